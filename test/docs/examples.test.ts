import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { beforeAll, describe, expect, it } from 'vitest';
import { FOLDERS, HOSTS, startPage } from '../../docs/.vitepress/start-pages.js';

const root = fileURLToPath(new URL('../../', import.meta.url));
/** A block that other pages import. */
const RECONCILE = join(root, 'docs/.schedule.md/reconcile.ts');

/** Every document by its path, with the quick starts as the site makes them. */
const documents = new Map<string, string>();

beforeAll(async () => {
  const readmes = ['packages', 'examples'].flatMap((folder) =>
    readdirSync(join(root, folder)).map((name) => join(root, folder, name, 'README.md')),
  );
  const docs = ts.sys.readDirectory(
    join(root, 'docs'),
    ['.md'],
    ['**/node_modules', '**/.vitepress', '**/reference', '**/start'],
  );
  for (const path of [join(root, 'README.md'), join(root, 'AGENTS.md'), ...readmes, ...docs])
    if (ts.sys.fileExists(path)) documents.set(path, readFileSync(path, 'utf8'));
  for (const locale of ['en', 'fr'] as const)
    for (const host of HOSTS)
      documents.set(
        join(root, 'docs', FOLDERS[locale], `${host}.md`),
        await startPage(locale, host),
      );
});

/** Returns true if the page's blocks form one project, named by their first lines. */
const isProject = (path: string): boolean =>
  /\/docs\/(?:start\/|(?:testing|schedule)\.md$)/.test(path);

/** Returns a document's TypeScript examples by path, except the files of examples/. */
function examples([path, markdown]: [string, string]): [string, string][] {
  const blocks = markdown.matchAll(/^```(tsx?)\n(?!\/\/ examples\/)(.*?)^```/gms);
  const project = isProject(path) ? join(dirname(path), `.${basename(path)}`) : dirname(path);
  return Array.from(blocks, ([, language, code], index) => {
    const title = isProject(path) ? /^\/\/ (\S+)\n/.exec(code!)?.[1] : undefined;
    const file = join(project, title ?? `.${index}.example.${language}`);
    // `export {}` makes each a module with its own names and top-level await.
    return [file, `${code}\nexport {};\n`];
  });
}

/** Resolves a relative import, without its extension. */
const besides = (containing: string, text: string): string =>
  join(dirname(containing), text).replace(/\.[jt]s$/, '');

/** Compiles the examples as in a reader's project, and returns the compiler's messages. */
function compile(files: ReadonlyMap<string, string>): string[] {
  const { config } = ts.readConfigFile(join(root, 'tsconfig.json'), (path) =>
    ts.sys.readFile(path),
  ) as { config: object };
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, root);
  // Few readers set this option, and the examples write `process.env.WEBHOOK_SECRET`.
  options.noPropertyAccessFromIndexSignature = false;
  options.declaration = false;
  options.allowImportingTsExtensions = true;
  options.noEmit = true;
  const host = ts.createCompilerHost(options);
  const { fileExists, readFile } = host;
  // Imports resolve from the tests' folder, which has every framework.
  const elsewhere = join(root, 'test', 'docs', 'examples.test.ts');
  host.fileExists = (path) => files.has(path) || fileExists.call(host, path);
  host.readFile = (path) => files.get(path) ?? readFile.call(host, path);
  host.resolveModuleNameLiterals = (literals, containing, redirected, compilerOptions) =>
    literals.map(({ text }) => {
      const candidates = ['.ts', '.tsx'].map((extension) => besides(containing, text) + extension);
      const onThePage = text.startsWith('.')
        ? [...candidates, ...(/reconcile\.[jt]s$/.test(text) ? [RECONCILE] : [])].find((path) =>
            files.has(path),
          )
        : undefined;
      if (onThePage !== undefined) {
        const extension = onThePage.endsWith('x') ? '.tsx' : '.ts';
        return { resolvedModule: { resolvedFileName: onThePage, extension } };
      }
      const from = files.has(containing) ? elsewhere : containing;
      // A Next.js route imports the reader's module from its project's root.
      const name = text === '../../../payments.ts' ? './payments.ts' : text;
      return ts.resolveModuleName(name, from, compilerOptions, host, undefined, redirected);
    });
  const program = ts.createProgram([...files.keys()], options, host);
  // Only the examples: `pnpm types` checks their imports.
  const diagnostics = [...files.keys()].flatMap((path) => {
    const file = program.getSourceFile(path);
    return [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)];
  });
  return [
    ...program.getOptionsDiagnostics(),
    ...program.getGlobalDiagnostics(),
    ...diagnostics,
  ].map((diagnostic) => {
    const where = diagnostic.file === undefined ? '' : relative(root, diagnostic.file.fileName);
    return `${where}: ${ts.flattenDiagnosticMessageText(diagnostic.messageText, '\n')}`;
  });
}

describe('the documents', () => {
  it('have examples that compile and import only exported names', () => {
    // translations.test.ts checks that the French ones are equal, and Deno the ones of Supabase.
    const english = [...documents].filter(
      ([path]) => !path.includes('/docs/fr/') && !path.endsWith('/start/supabase.md'),
    );
    const files = new Map(english.flatMap(examples));
    expect(files.size).toBeGreaterThan(50);
    expect(compile(files)).toEqual([]);
  }, 180_000);

  it('are reported if an example does not compile', () => {
    const file = join(root, '.broken.example.ts');
    expect(
      compile(new Map([[file, "import { nothing } from '@paylink/core';\nnothing();\n"]])).join(),
    ).toMatch(/no exported member 'nothing'/);
  }, 60_000);

  it('show no credit that is not one conditional write', () => {
    const credits = [...documents].flatMap(([path, markdown]) =>
      Array.from(markdown.matchAll(/UPDATE orders SET paid_at[^`;"]*/g), ([sql]) => [path, sql]),
    );
    expect(credits.length).toBeGreaterThan(20);
    expect(credits.filter(([, sql]) => !sql!.includes('paid_at IS NULL'))).toEqual([]);
  });

  it('have a heading for exactly the error codes of replies', () => {
    const source = readFileSync(join(root, 'packages/core/src/reply.ts'), 'utf8');
    const codes = Array.from(source.matchAll(/^ {2}([a-z_]+): \d{3},$/gm), ([, code]) => code);
    const [replies = ''] = readFileSync(join(root, 'docs/errors.md'), 'utf8').split(
      '\n## Errors of the client\n',
    );
    const headings = Array.from(replies.matchAll(/^### ([a-z_]+)$/gm), ([, code]) => code);
    expect(codes.length).toBeGreaterThan(15);
    expect(headings.sort()).toEqual(codes.sort());
  });

  it('have a heading for each error code of the client', () => {
    const source = readFileSync(join(root, 'packages/client/src/errors.ts'), 'utf8');
    const codes = Array.from(source.matchAll(/^ {2}\| '([a-z_]+)'/gm), ([, code]) => code);
    const headings = Array.from(
      readFileSync(join(root, 'docs/errors.md'), 'utf8').matchAll(/^### ([a-z_]+)$/gm),
      ([, code]) => code,
    );
    expect(codes.length).toBeGreaterThan(15);
    expect(headings).toEqual(expect.arrayContaining(codes));
  });

  it('link to files that exist, or to a quick start of the site', () => {
    const broken = [...documents].flatMap(([path, markdown]) =>
      Array.from(
        markdown.replace(/^```.*?^```/gms, '').matchAll(/\]\((?!https?:)([^)#]+)/g),
        ([, target]) => join(dirname(path), target!),
      )
        .filter(
          (target) =>
            !documents.has(target) && !ts.sys.fileExists(target) && !ts.sys.directoryExists(target),
        )
        .map((target) => `${relative(root, path)}: ${relative(root, target)}`),
    );
    expect(broken).toEqual([]);
  });
});
