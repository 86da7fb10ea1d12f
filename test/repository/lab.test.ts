import { existsSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { PROOFS } from '../../lab/proofs.js';

const LAB = new URL('../../lab/', import.meta.url);
const readme = readFileSync(new URL('README.md', LAB), 'utf8');

it('the lab has the file of each command, and its README lists each command', () => {
  for (const [name, { file }] of Object.entries(PROOFS)) {
    expect(existsSync(new URL(file, LAB)), file).toBe(true);
    expect(readme).toContain(`\`pnpm lab ${name}\``);
  }
});
