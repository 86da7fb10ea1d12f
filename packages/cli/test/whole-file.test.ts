import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { writeWhole } from '../src/terminal/whole-file.js';
import { newFolder } from './paylink.js';

it('writeWhole leaves no draft of a secret if it cannot replace the file', () => {
  const folder = newFolder();
  const path = join(folder, 'secrets.env');
  mkdirSync(path);
  expect(() => writeWhole(path, 'PAYLINK_API_KEY=sk_live_a.b\n', 0o600)).toThrow();
  expect(readdirSync(folder)).toEqual(['secrets.env']);
});
