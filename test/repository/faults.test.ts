/** `pnpm lab mutants` runs at night. A change that moves the code of a fault fails here. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { FAULTS } from '../../lab/mutants/faults.js';
import { PACKAGES } from './package-folders.js';

it('each planted fault of the lab replaces code that stands once in its file', () => {
  const isStale = ({ file, search }: (typeof FAULTS)[number]): boolean =>
    readFileSync(join(PACKAGES, file), 'utf8').split(search).length !== 2;
  expect(FAULTS.filter(isStale)).toEqual([]);
});
