/** `pnpm raise` drops the sentences that are wrong as soon as the packages are on npm. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './bootstrap.mjs';

const STARTS = ['start/express', 'start/supabase', 'fr/start/express', 'fr/start/supabase'];
const PAGES = ['AGENTS.md', 'README.md', ...STARTS.map((page) => `docs/${page}.md`)];

for (const page of PAGES) {
  const file = join(ROOT, page);
  const text = readFileSync(file, 'utf8');
  const line =
    /^(?:- )?(?:The packages are not on npm yet|Les paquets ne sont pas encore sur npm)\..*\n/m;
  // A paragraph takes its empty line along.
  writeFileSync(file, text.replace(line, '').replace(/\n{3,}/g, '\n\n'));
}
