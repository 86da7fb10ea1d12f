import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { withAbsoluteLinks } from '../../scripts/publish.mjs';

const root = new URL('../../', import.meta.url);
const readmes = readdirSync(new URL('packages/', root)).map(
  (name) => [name, readFileSync(new URL(`packages/${name}/README.md`, root), 'utf8')] as const,
);

/** The packages with separate type packages. */
const typedElsewhere = new Set(readdirSync(new URL('test/node_modules/@types/', root)));

/** Returns the packages that the examples import, except Node's. */
function importedBy(markdown: string): string[] {
  const examples = Array.from(markdown.matchAll(/^```ts\n(.*?)^```/gms), ([, code]) => code!).join(
    '\n',
  );
  const doors = Array.from(examples.matchAll(/from '((?!\.|node:)[^']+)'/g), ([, door]) => door!);
  return [...new Set(doors.map((door) => /^(?:@[^/]+\/)?[^/]+/.exec(door)![0]))];
}

const installedBy = (markdown: string): string[] =>
  Array.from(markdown.matchAll(/^npm install (.*)$/gm), ([, line]) => line!.split(/[\s#]+/))
    .flat()
    .map((name) => name.replace(/(?<=.)@\d[\d.]*$/, ''));

it.each([...readmes, ['AGENTS.md', readFileSync(new URL('AGENTS.md', root), 'utf8')] as const])(
  'the install lines of %s bring the types that its examples need to compile',
  (_name, markdown) => {
    const types = importedBy(markdown).flatMap((each) =>
      typedElsewhere.has(each) ? [`@types/${each}`] : [],
    );
    expect(types.filter((each) => !installedBy(markdown).includes(each))).toEqual([]);
  },
);

describe.each(readmes)('the published README of %s', (name, markdown) => {
  it('installs every package that its examples import', () => {
    expect(importedBy(markdown).filter((each) => !installedBy(markdown).includes(each))).toEqual(
      [],
    );
  });

  it('has only absolute links that lead to a file', () => {
    const tree = 'https://example.com/paylink/blob/v1.2.3';
    const published = withAbsoluteLinks(markdown, `packages/${name}`, tree).replace(
      /^```.*?^```/gms,
      '',
    );
    expect(published.match(/\]\((?!https:|#)[^)]*\)/g) ?? []).toEqual([]);
    const ours = Array.from(
      published.matchAll(/\]\(https:\/\/example\.com\/paylink\/blob\/v1\.2\.3\/([^)#]+)/g),
      ([, path]) => path!,
    );
    expect(ours.filter((path) => !existsSync(new URL(path, root)))).toEqual([]);
  });
});

describe('the links of a published README', () => {
  it('lead to the repository, except in code', () => {
    const markdown =
      'See [core](../core/README.md#options), [here](#here) and `[a](b)`.\n\n```ts\nconst a = [b](c);\n```\n';
    expect(withAbsoluteLinks(markdown, 'packages/express', 'https://example.com/p/blob/v1')).toBe(
      'See [core](https://example.com/p/blob/v1/packages/core/README.md#options), [here](#here) and `[a](b)`.\n\n```ts\nconst a = [b](c);\n```\n',
    );
  });
});
