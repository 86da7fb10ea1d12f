import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const folder = new URL('../src/', import.meta.url);
const sources = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts'))
  .map((name) => [name, readFileSync(new URL(name, folder), 'utf8')] as const);
const code = (text: string): string => text.replace(/\/\*[^]*?\*\/|\/\/.*$/gm, '');

describe('the sources of core', () => {
  it.each(sources)(
    'call no function that is faulty in a supported Node: %s',
    { tags: ['K06', 'J05'] },
    (_, text) => {
      // CVE-2026-21713 and CVE-2026-21710.
      expect(code(text)).not.toMatch(/subtle\s*\.\s*verify|headersDistinct/);
    },
  );

  it.each(sources)(
    'import only each other, and node:crypto in one file: %s',
    { tags: 'K02' },
    (name, text) => {
      const imports = Array.from(
        text.matchAll(/(?:from|import\() *'([^']+)'/g),
        ([, path]) => path!,
      );
      const foreign = imports.filter(
        (path) => !/^(\.\.?\/[a-z./-]+\.js(on)?|#hmac|#diagnose)$/.test(path),
      );
      expect(foreign).toEqual(name === 'hmac.node.ts' ? ['node:crypto'] : []);
    },
  );
});
