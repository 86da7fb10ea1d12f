import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const root = new URL('../../', import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, root), 'utf8');

it('the reference has a compiled example for each value of a front door', () => {
  const values = Array.from(
    read('public-api.txt').matchAll(/^@paylink\/(\S+) (\w+) \(value\)$/gm),
    ([, door, name]) => `${door!.replaceAll('/', '-')} ${name!}`,
  );
  const examples = readdirSync(new URL('test/docs/api', root)).flatMap((file) =>
    Array.from(
      read(`test/docs/api/${file}`).matchAll(/^\/\/ #region (\w+)$/gm),
      ([, name]) => `${file.replace('.ts', '')} ${name!}`,
    ),
  );
  // A re-exported error has its example where it is made.
  const wanted = values.filter((value) => !/^(?!core |payments ).* WebhookError$/.test(value));
  expect(wanted.length).toBeGreaterThan(40);
  expect(wanted.filter((value) => !examples.includes(value))).toEqual([]);
});
