import { execFile } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { withCode } from '../../docs/.vitepress/code.js';
import { FOLDERS, HOSTS, startPage } from '../../docs/.vitepress/start-pages.js';
import { blockOf } from './blocks.js';

const root = fileURLToPath(new URL('../../', import.meta.url));
const TSC = join(root, 'node_modules/typescript/bin/tsc');

/** Every document by its path, with the quick starts as the site makes them. */
const documents = new Map<string, string>();

beforeAll(() => {
  const readmes = ['packages', 'examples'].flatMap((folder) =>
    readdirSync(join(root, folder)).map((name) => join(root, folder, name, 'README.md')),
  );
  const docs = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter(
      (path) => path.endsWith('.md') && !/node_modules|\.vitepress|reference|start/.test(path),
    )
    .map((path) => join(root, 'docs', path));
  for (const path of [join(root, 'README.md'), join(root, 'AGENTS.md'), ...readmes, ...docs])
    if (existsSync(path))
      documents.set(path, withCode(readFileSync(path, 'utf8'), relative(root, path)));
  for (const locale of ['en', 'fr'] as const)
    for (const host of HOSTS)
      documents.set(join(root, 'docs', FOLDERS[locale], `${host}.md`), startPage(locale, host));
});

/** Returns true if the page's blocks form one project, named by their first lines. */
const isProject = (path: string): boolean =>
  /\/AGENTS\.md$|\/docs\/(?:start\/|(?:testing|schedule)\.md$)/.test(path);

/** Returns a document's TypeScript examples by path, except the files of examples/ and lab/. */
function examples([path, markdown]: [string, string]): [string, string][] {
  const blocks = markdown.matchAll(/^```(tsx?)\n(?!\/\/ (?:examples|lab)\/)(.*?)^```/gms);
  return Array.from(blocks, ([, language, code], index) => {
    const title = isProject(path) ? /^\/\/ (\S+)\n/.exec(code!)?.[1] : undefined;
    const file = join(relative(root, path), title ?? `${index}.example.${language}`);
    // A Next.js route imports the reader's module from its project's root.
    const text = title === undefined ? code!.replace("'../../../payments.", "'./payments.") : code!;
    // `export {}` makes each a module with its own names and top-level await.
    return [file, `${text}\nexport {};\n`];
  });
}

/** Compiles the examples as in a reader's project, and returns the compiler's output. */
async function compile(files: ReadonlyMap<string, string>): Promise<string> {
  // Imports resolve from the tests' folder, which has every framework.
  mkdirSync(join(root, 'test/.cache'), { recursive: true });
  const folder = mkdtempSync(join(root, 'test/.cache/examples-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  /** What a page imports from the reader's project, or from another page. */
  const standIns = {
    'orders.ts': readFileSync(join(root, 'test/docs/orders.ts'), 'utf8'),
    'payments.ts': readFileSync(join(root, 'test/docs/payments.ts'), 'utf8'),
    'reconcile.ts': await blockOf('docs/schedule.md', '// reconcile.ts'),
  };
  for (const [path, text] of files) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    for (const [name, standIn] of Object.entries(standIns))
      if (!files.has(join(dirname(path), name)))
        writeFileSync(join(folder, dirname(path), name), standIn);
    writeFileSync(join(folder, path), text);
  }
  const compilerOptions = {
    // Few readers set this option, and the examples write `process.env.WEBHOOK_SECRET`.
    noPropertyAccessFromIndexSignature: false,
    allowImportingTsExtensions: true,
  };
  const base = join(root, 'tsconfig.json');
  const config = { extends: base, compilerOptions, files: [...files.keys()], include: [] };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config));
  return promisify(execFile)(process.execPath, [TSC, '-p', folder, '--singleThreaded']).then(
    ({ stdout }) => stdout,
    (error: unknown) => (error as { readonly stdout: string }).stdout,
  );
}

/** Returns the codes that have a section or a row of their own. */
const placesOf = (markdown: string): string[] =>
  Array.from(markdown.matchAll(/^### ([a-z_]+)$|<a id="([a-z_]+)">/gm), ([, heading, row]) =>
    String(heading ?? row),
  );

describe('the documents', () => {
  it('have examples that compile, and an example of an unknown name is reported', async () => {
    // translations.test.ts checks that the French ones are equal, and Deno the ones of Supabase.
    const english = [...documents].filter(
      ([path]) => !path.includes('/docs/fr/') && !path.endsWith('/start/supabase.md'),
    );
    const files = new Map(english.flatMap(examples));
    expect(files.size).toBeGreaterThan(50);
    files.set('broken.ts', "import { nothing } from '@paylink/core';\nnothing();\n");
    const errors = (await compile(files)).trim().split('\n');
    expect(errors).toEqual([expect.stringMatching(/broken\.ts.*no exported member 'nothing'/)]);
  }, 180_000);

  it('test the same promises in each quick start on SQLite', () => {
    const testsOf = (host: string): string | undefined =>
      /^test\('credits a paid order once.*?(?=^```$)/ms.exec(startPage('en', host))?.[0];
    const hosts = HOSTS.filter((host) => host !== 'supabase');
    expect(testsOf('express')).toContain('testOrders({ orders, createOrder, test });');
    expect(hosts.filter((host) => testsOf(host) !== testsOf('express'))).toEqual([]);
  });

  it('show no credit that is not one conditional write', () => {
    const credits = [...documents].flatMap(([path, markdown]) =>
      Array.from(markdown.matchAll(/UPDATE orders SET paid_at[^`;"]*/g), ([sql]) => [path, sql]),
    );
    expect(credits.length).toBeGreaterThan(20);
    expect(credits.filter(([, sql]) => !sql!.includes('paid_at IS NULL'))).toEqual([]);
  });

  it('have a place for exactly the error codes of replies', () => {
    const source = readFileSync(join(root, 'packages/core/src/reply.ts'), 'utf8');
    const codes = Array.from(source.matchAll(/^ {2}([a-z_]+): \d{3},$/gm), ([, code]) => code);
    const [replies = ''] = readFileSync(join(root, 'docs/errors.md'), 'utf8').split(
      '\n## Errors from the client\n',
    );
    const places = placesOf(replies);
    expect(codes.length).toBeGreaterThan(15);
    expect(places.sort()).toEqual(codes.sort());
  });

  it('have a place for each error code of the client', () => {
    const source = readFileSync(join(root, 'packages/client/src/errors.ts'), 'utf8');
    const codes = Array.from(source.matchAll(/^ {2}\| '([a-z_]+)'/gm), ([, code]) => code);
    const places = placesOf(readFileSync(join(root, 'docs/errors.md'), 'utf8'));
    expect(codes.length).toBeGreaterThan(15);
    expect(places).toEqual(expect.arrayContaining(codes));
  });
});
