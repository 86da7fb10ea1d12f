/**
 * Writes the generated parts of the documents: the quick starts from docs/.vitepress/quick-start, the
 * copies of the recipe (also that of `paylink init`) and of examples, and docs/attacks.md. `--check`
 * changes nothing, and exits with 1 if a file differs.
 *
 *     node scripts/docs-write.mjs [--check]
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { format, resolveConfig } from 'prettier';
import typescript from 'typescript';
import { attacksPage } from './attacks-page.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const SOURCES = join(ROOT, 'docs/.vitepress/quick-start');
const PLACEHOLDER = /\{\{([\w.-]+)\}\}/g;

const read = (/** @type {string} */ path) => readFileSync(join(ROOT, path), 'utf8');

/** The one recipe of a credit. */
const recipe = () => read('examples/shop/src/credit-order.ts').trim();

/**
 * Reads `name: value` lines, then sections that begin with `=== name`.
 *
 * @param {string} file
 * @returns {Record<string, string>}
 */
function readValues(file) {
  const [head = '', ...sections] = readFileSync(join(SOURCES, file), 'utf8').split(/^=== /m);
  const lines = head.split('\n').filter((line) => line.includes(':'));
  const values = lines.map(
    (line) =>
      /** @type {const} */ ([
        line.slice(0, line.indexOf(':')),
        line.slice(line.indexOf(':') + 1).trim(),
      ]),
  );
  const blocks = sections.map(
    (section) =>
      /** @type {const} */ ([
        section.slice(0, section.indexOf('\n')),
        section.slice(section.indexOf('\n')).trim(),
      ]),
  );
  return Object.fromEntries([...values, ...blocks]);
}

/**
 * Fills in the placeholders, also those in values. A line that is empty afterwards is dropped.
 *
 * @param {string} template
 * @param {Record<string, string>} values
 */
function fill(template, values) {
  let text = template;
  while (PLACEHOLDER.test(text)) {
    text = text.replace(PLACEHOLDER, (_whole, name) => values[name] || '\0');
  }
  return text
    .replace(/^[ \0]*\0[ \0]*\n/gm, '')
    .replace(/ ?\0/g, '')
    .replace(/\n{3,}/g, '\n\n');
}

/**
 * The quick start of a host.
 *
 * @param {'en' | 'fr'} locale
 * @param {string} host
 */
function quickStart(locale, host) {
  const own = readValues(`hosts/${host}.md`);
  const values = {
    ...readValues('shared.md'),
    ...(own.use === undefined ? {} : readValues(`${own.use}.md`)),
    name: own.title ?? '',
    ...own,
    recipe: recipe(),
  };
  if (locale === 'fr' && own.nom !== undefined) values.name = own.nom;
  return fill(readFileSync(join(SOURCES, `${locale}.md`), 'utf8'), values);
}

/** The module that gives the recipe to `paylink init`, in TypeScript and in JavaScript. */
async function recipeModule() {
  const { outputText } = typescript.transpileModule(recipe(), {
    compilerOptions: { target: typescript.ScriptTarget.ES2022 },
  });
  const config = await resolveConfig(join(ROOT, 'README.md'));
  // The compiler drops empty lines.
  const spaced = outputText.replace(/^(?=const FIND|\/\*\*)/gm, '\n');
  const script = await format(spaced, { ...config, parser: 'babel' });
  const quote = (/** @type {string} */ text) => `\`${text.replace(/[\\`]|\$\{/g, '\\$&')}\``;
  return `// Generated from examples/shop/src/credit-order.ts by \`node scripts/docs-write.mjs\`.
export const RECIPE = { ts: ${quote(`${recipe()}\n`)}, js: ${quote(script)} };
`;
}

/** A block whose first line names its file: one of examples/, or the recipe. */
const COPY = /^```(ts|yaml)\n(\/\/|#) (examples\/\S+|credit-order\.ts)\n.*?^```$/gms;

/**
 * A document with its copies of examples and of the recipe as these are now.
 *
 * @param {string} markdown
 */
function withCopies(markdown) {
  return markdown.replace(COPY, (_whole, language, mark, file) => {
    const code = file === 'credit-order.ts' ? recipe() : read(file).trim();
    return `\`\`\`${language}\n${mark} ${file}\n${code}\n\`\`\``;
  });
}

/** Documents that may show copies. */
const DOCUMENTS = [
  'README.md',
  'AGENTS.md',
  ...readdirSync(join(ROOT, 'docs')).map((name) => `docs/${name}`),
];

/**
 * Every generated document by its path, as it must be.
 *
 * @returns {Promise<Map<string, string>>}
 */
export async function generated() {
  const config = await resolveConfig(join(ROOT, 'README.md'));
  const pretty = (/** @type {string} */ text) => format(text, { ...config, parser: 'markdown' });
  const files = new Map();
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
