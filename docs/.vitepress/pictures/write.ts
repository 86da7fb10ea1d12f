/** `pnpm docs:pictures` draws the pictures of docs/public again. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DOCS } from '../pages.js';
import { crash, states, threeWays } from './credit.js';
import { delivery } from './delivery.js';
import { howItWorks } from './how.js';
import { rotation, runbook } from './operations.js';
import { speed } from './speed.js';
import { draw, type Picture } from './svg.js';

/** The picture by its file in docs/public. */
export const PICTURES: Readonly<Record<string, () => Picture>> = {
  'delivery.svg': delivery,
  'how-it-works.svg': () => howItWorks('en'),
  'how-it-works-fr.svg': () => howItWorks('fr'),
  'three-ways.svg': threeWays,
  'crash.svg': () => crash('en'),
  'crash-fr.svg': () => crash('fr'),
  'states.svg': () => states('en'),
  'states-fr.svg': () => states('fr'),
  'speed.svg': speed,
  'rotation.svg': () => rotation('en'),
  'rotation-fr.svg': () => rotation('fr'),
  'runbook.svg': () => runbook('en'),
  'runbook-fr.svg': () => runbook('fr'),
};

export function writePictures(): void {
  for (const [file, picture] of Object.entries(PICTURES))
    writeFileSync(join(DOCS, 'public', file), draw(picture()));
}

if (process.argv[1] === import.meta.filename) writePictures();
