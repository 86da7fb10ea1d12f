import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));
const RECIPE = join(root, 'examples/shop/src/credit-order.ts');

function documents(): string[] {
  const readmes = ['packages', 'examples'].flatMap((folder) =>
    readdirSync(join(root, folder)).map((name) => join(root, folder, name, 'README.md')),
  );
  const docs = ts.sys.readDirectory(
    join(root, 'docs'),
    ['.md'],
    ['**/node_modules', '**/.vitepress', '**/reference'],
  );
  return [join(root, 'README.md'), join(root, 'AGENTS.md'), ...readmes, ...docs].filter((path) =>
    ts.sys.fileExists(path),
  );
}

/** Returns a document without its code blocks. */
function proseOf(path: string): string {
  return readFileSync(path, 'utf8').replace(/^```.*?^```/gms, '');
}

/**
 * Returns the files of `examples` in a document's blocks, whose first line is a comment with the
 * path.
 */
function shownFiles(path: string): [string, string][] {
  const blocks = readFileSync(path, 'utf8').matchAll(/^```ts\n\/\/ (examples\/\S+)\n(.*?)^```/gms);
  return Array.from(blocks, ([, file, code]) => [file!, code!]);
}

/** Returns true if the page's blocks form one project, named by their first lines. */
const isProject = (path: string): boolean => /\/docs\/(?:start\/|testing\.md$)/.test(path);

/** Returns a document's other TypeScript examples, by path. */
function examples(path: string): [string, string][] {
  const blocks = readFileSync(path, 'utf8').matchAll(/^```(tsx?)\n(?!\/\/ examples\/)(.*?)^```/gms);
  const project = join(dirname(path), `.${basename(path)}`);
  return Array.from(blocks, ([, language, code], index) => {
    const title = isProject(path) ? /^\/\/ (\S+)\n/.exec(code!)?.[1] : undefined;
    const file =
      title === undefined
        ? join(dirname(path), `.${index}.example.${language}`)
        : join(project, title);
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
  // Imports resolve from the tests' folder, which has every framework. The credit recipe is the
  // shop's.
  const elsewhere = join(root, 'test', 'docs', 'examples.test.ts');
  const shop = join(dirname(RECIPE), 'shop.ts');
  host.fileExists = (path) => files.has(path) || fileExists.call(host, path);
  host.readFile = (path) => files.get(path) ?? readFile.call(host, path);
  host.resolveModuleNameLiterals = (literals, containing, redirected, compilerOptions) =>
    literals.map(({ text }) => {
      const onThePage = ['.ts', '.tsx'].find(
        (extension) => text.startsWith('.') && files.has(besides(containing, text) + extension),
      );
      if (onThePage !== undefined) {
        return {
          resolvedModule: {
            resolvedFileName: besides(containing, text) + onThePage,
            extension: onThePage,
          },
        };
      }
      const from = !files.has(containing)
        ? containing
        : text === './credit-order.js'
          ? shop
          : elsewhere;
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
    // translations.test.ts checks that the French ones are equal.
    const files = new Map(
      documents()
        .filter((path) => !path.includes('/docs/fr/'))
        .flatMap(examples),
    );
    expect(files.size).toBeGreaterThan(8);
    expect(compile(files)).toEqual([]);
  }, 180_000);

  it('are reported if an example does not compile', () => {
    const file = join(root, '.broken.example.ts');
    expect(
      compile(new Map([[file, "import { nothing } from '@paylink/core';\nnothing();\n"]])).join(),
    ).toMatch(/no exported member 'nothing'/);
  }, 60_000);

  it('show the tested files of the examples', () => {
    const shown = documents().flatMap((path) =>
      shownFiles(path).map(([file, code]) => [relative(root, path), file, code] as const),
    );
    expect(shown.length).toBeGreaterThan(3);
    for (const [path, file, code] of shown)
      expect(code, `${file} in ${path}`).toBe(readFileSync(join(root, file), 'utf8'));
  });

  it('show the tested credit recipe and no other way to credit', () => {
    const recipe = readFileSync(RECIPE, 'utf8').replace('// credit-order.ts\n', '');
    const showing = documents().filter((path) =>
      readFileSync(path, 'utf8').includes('```ts\n// credit-order.ts\n'),
    );
    expect(showing.length).toBeGreaterThan(10);
    for (const path of showing) {
      const [before, ...after] = readFileSync(path, 'utf8').split(
        `\`\`\`ts\n// credit-order.ts\n${recipe}\`\`\``,
      );
      expect(after, `copies of the recipe in ${relative(root, path)}`).toHaveLength(1);
      expect(`${before}${after.join('')}`).not.toMatch(
        /UPDATE orders SET paid_at(?![^`]*paid_at IS NULL)/,
      );
    }
  });

  it('have a heading for exactly the error codes of replies', () => {
    const source = readFileSync(join(root, 'packages/core/src/reply.ts'), 'utf8');
    const codes = Array.from(source.matchAll(/^ {2}([a-z_]+): \d{3},$/gm), ([, code]) => code);
    const [replies = ''] = readFileSync(join(root, 'docs/errors.md'), 'utf8').split(
      '\n## Codes of the recipe\n',
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

  it('link to files that exist', () => {
    const broken = documents().flatMap((path) =>
      Array.from(proseOf(path).matchAll(/\]\((?!https?:)([^)#]+)/g), ([, target]) =>
        join(dirname(path), target!),
      ).filter((target) => !ts.sys.fileExists(target) && !ts.sys.directoryExists(target)),
    );
    expect(broken).toEqual([]);
  });
});
