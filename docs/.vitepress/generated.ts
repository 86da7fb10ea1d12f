/**
 * `pnpm docs:write` writes the generated parts of the documents: the quick starts from
 * quick-start/, the copies of the recipe (also that of `paylink init`) and of examples, and
 * docs/attacks.md. `--check` changes nothing, and exits with 1 if a file differs.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { format, resolveConfig } from 'prettier';
import typescript from 'typescript';
import { attacksPage } from './attacks.js';
import { DOCS, type Locale } from './pages.js';

const ROOT = join(DOCS, '..');
const SOURCES = join(DOCS, '.vitepress/quick-start');
const PLACEHOLDER = /\{\{([\w.-]+)\}\}/g;

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

/** The one recipe of a credit. */
const recipe = (): string => read('examples/shop/src/credit-order.ts').trim();

const nameAndValue = (text: string, separator: string): [string, string] => {
  const end = text.indexOf(separator);
  return [text.slice(0, end), text.slice(end + 1).trim()];
};

/** Reads `name: value` lines, then sections that begin with `=== name`. */
function readValues(file: string): Record<string, string> {
  const [head = '', ...sections] = readFileSync(join(SOURCES, file), 'utf8').split(/^=== /m);
  const lines = head.split('\n').filter((line) => line.includes(':'));
  return Object.fromEntries([
    ...lines.map((line) => nameAndValue(line, ':')),
    ...sections.map((section) => nameAndValue(section, '\n')),
  ]);
}

/** Fills in the placeholders, also those in values, and drops the lines that this leaves empty. */
function fill(template: string, values: Readonly<Record<string, string>>): string {
  let text = template;
  while (PLACEHOLDER.test(text)) {
    text = text.replace(PLACEHOLDER, (_whole, name: string) => {
      const value = values[name] ?? '';
      return value === '' ? '\0' : value;
    });
  }
  return text
    .replace(/^[ \0]*\0[ \0]*\n/gm, '')
    .replace(/ ?\0/g, '')
    .replace(/\n{3,}/g, '\n\n');
}

function quickStart(locale: Locale, host: string): string {
  const own = readValues(`hosts/${host}.md`);
  const values: Record<string, string> = {
    ...readValues('shared.md'),
    ...(own['use'] === undefined ? {} : readValues(`${own['use']}.md`)),
    name: own['title'] ?? '',
    ...own,
    recipe: recipe(),
  };
  if (locale === 'fr' && own['nom'] !== undefined) values['name'] = own['nom'];
  return fill(readFileSync(join(SOURCES, `${locale}.md`), 'utf8'), values);
}

/** The module that gives the recipe to `paylink init`, in TypeScript and in JavaScript. */
async function recipeModule(): Promise<string> {
  const { outputText } = typescript.transpileModule(recipe(), {
    compilerOptions: { target: typescript.ScriptTarget.ES2022 },
  });
  const config = await resolveConfig(join(ROOT, 'README.md'));
  // The compiler drops empty lines.
  const spaced = outputText.replace(/^(?=const FIND|\/\*\*)/gm, '\n');
  const script = await format(spaced, { ...config, parser: 'babel' });
  const quote = (text: string): string => `\`${text.replace(/[\\`]|\$\{/g, '\\$&')}\``;
  return `// Generated from examples/shop/src/credit-order.ts by \`pnpm docs:write\`.
export const RECIPE = { ts: ${quote(`${recipe()}\n`)}, js: ${quote(script)} };
`;
}

/** A block whose first line names its file: one of examples/, or the recipe. */
const COPY = /^```(ts|yaml)\n(\/\/|#) (examples\/\S+|credit-order\.ts)\n.*?^```$/gms;

/** A document with its copies of examples and of the recipe as these are now. */
function withCopies(markdown: string): string {
  return markdown.replace(COPY, (_whole, language: string, mark: string, file: string) => {
    const code = file === 'credit-order.ts' ? recipe() : read(file).trim();
    return `\`\`\`${language}\n${mark} ${file}\n${code}\n\`\`\``;
  });
}

/** Documents that may show copies. */
const DOCUMENTS = ['README.md', 'AGENTS.md', ...readdirSync(DOCS).map((name) => `docs/${name}`)];

/** Every generated document by its path, as it must be. */
export async function generated(): Promise<Map<string, string>> {
  const config = await resolveConfig(join(ROOT, 'README.md'));
  const pretty = (text: string): Promise<string> => format(text, { ...config, parser: 'markdown' });
  const files = new Map<string, string>();
  for (const file of readdirSync(join(SOURCES, 'hosts'))) {
    const host = file.replace('.md', '');
    files.set(`docs/start/${file}`, await pretty(quickStart('en', host)));
    files.set(`docs/fr/start/${file}`, await pretty(quickStart('fr', host)));
  }
  files.set(
    'packages/cli/src/init/recipe.ts',
    await format(await recipeModule(), { ...config, parser: 'typescript' }),
  );
  files.set('docs/attacks.md', await pretty(attacksPage()));
  for (const path of DOCUMENTS.filter(
    (each) => each.endsWith('.md') && each !== 'docs/attacks.md',
  )) {
    const markdown = read(path);
    if (markdown.match(COPY) !== null) files.set(path, await pretty(withCopies(markdown)));
  }
  return files;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const [path, text] of await generated()) {
    if (existsSync(join(ROOT, path)) && read(path) === text) continue;
    console.log(path);
    if (process.argv.includes('--check')) process.exitCode = 1;
    else writeFileSync(join(ROOT, path), text);
  }
}
