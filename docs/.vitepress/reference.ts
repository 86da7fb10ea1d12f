/**
 * Writes the pages that are in no commit: the packages' READMEs, and the API of each door from
 * its docstrings. `pnpm docs:build` runs it first.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Application, Converter } from 'typedoc';
import { format } from '../../scripts/format.mjs';
import { doors } from '../../scripts/public-api.mjs';
import { anchorsOf, pageOfReadme, withSiteLinks } from './links.js';
import { DOCS, REFERENCE } from './pages.js';

const ROOT = join(DOCS, '..');
const FOLDER = join(DOCS, REFERENCE);

/** The page of a door, by its name without the scope: `payments/store` is `payments-store.md`. */
const pageOfDoor = (name: string): string => name.slice('@paylink/'.length).replaceAll('/', '-');

function writeReadmes(): void {
  const names = readdirSync(join(ROOT, 'packages')).map((name) => `packages/${name}/README.md`);
  for (const file of ['README.md', 'lab/bench/README.md', ...names]) {
    const page = pageOfReadme(file)!;
    // The site serves the pictures of docs/public at its root.
    const markdown = readFileSync(join(ROOT, file), 'utf8').replaceAll('"docs/public/', '"/');
    writeFileSync(join(ROOT, page), withSiteLinks(markdown, file, page));
  }
}

async function writeApi(): Promise<void> {
  const named = new Map(doors().map(([name, source]) => [source, name]));
  const doorOfPage = new Map(doors().map(([name]) => [pageOfDoor(name), name]));
  const app = await Application.bootstrapWithPlugins({
    plugin: ['typedoc-plugin-markdown', 'typedoc-plugin-missing-exports'],
    placeInternalsInOwningModule: true,
    entryPoints: [...named.keys()],
    tsconfig: join(DOCS, 'typedoc.tsconfig.json'),
    out: join(FOLDER, 'api'),
    router: 'module',
    readme: 'none',
    // Compiled by `pnpm types`, and not again here.
    skipErrorChecking: true,
    disableSources: true,
    excludeExternals: true,
    excludePrivate: true,
    githubPages: false,
    logLevel: 'Error',
    groupOrder: ['Functions', 'Classes', '*'],
    entryFileName: 'index',
    pageTitleTemplates: {
      index: 'API',
      module: ({ name }: { name: string }) => doorOfPage.get(name) ?? name,
    },
    hideBreadcrumbs: true,
    hidePageHeader: true,
    useCodeBlocks: true,
    useHTMLEncodedBrackets: true,
    sanitizeComments: true,
    parametersFormat: 'table',
    interfacePropertiesFormat: 'table',
  } as Parameters<typeof Application.bootstrapWithPlugins>[0]);
  app.converter.on(Converter.EVENT_RESOLVE_BEGIN, ({ project }) => {
    for (const module of project.children ?? []) {
      const source = project.getSymbolIdFromReflection(module)?.fileName;
      const name = source === undefined ? undefined : named.get(source);
      if (name === undefined)
        throw new Error(`typedoc names a module ${module.name}, and no door leads to it`);
      module.name = pageOfDoor(name);
    }
  });
  const project = await app.convert();
  if (project === undefined) throw new Error('typedoc could not read the sources');
  await app.generateOutputs(project);
}

/**
 * typedoc counts names that it then shows without a heading, and numbers its anchors by them:
 * `#name-1` where there is one `name`.
 */
function withAnchorsThatAre(markdown: string): string {
  const anchors = anchorsOf(markdown);
  return markdown.replace(/\]\(#([^)]+)\)/g, (link, anchor: string) => {
    const unnumbered = anchor.replace(/-\d+$/, '');
    return !anchors.has(anchor) && anchors.has(unnumbered) ? `](#${unnumbered})` : link;
  });
}

/**
 * typedoc leaves out a level where a type has nothing to say of itself: each heading gets the
 * level of its depth.
 */
function withHeadingsInOrder(markdown: string): string {
  const above: number[] = [];
  return markdown.replace(/^```.*?^```$|^#+ /gms, (found) => {
    if (found.startsWith('`')) return found;
    const level = found.length - 1;
    while (above.length > 0 && above.at(-1)! >= level) above.pop();
    above.push(level);
    return `${'#'.repeat(above.length)} `;
  });
}

/** Examples of the values of each door, by page: regions that the tests compile. */
const EXAMPLES = join(ROOT, 'test/docs/api');

/** Returns the code of each region of a page's examples, by the name of its value. */
export function examplesOf(page: string): Map<string, string> {
  const path = join(EXAMPLES, page.replace(/\.md$/, '.ts'));
  const source = existsSync(path) ? readFileSync(path, 'utf8') : '';
  const regions = source.matchAll(/^\/\/ #region (\w+)\n(.*?)^\/\/ #endregion$/gms);
  return new Map(Array.from(regions, ([, name, code]) => [name!, code!.trim()]));
}

/** The section of a name, up to the next rule or heading of its level. */
const sectionOf = (name: string): RegExp =>
  new RegExp(`^### ${name}(?:\\(\\))?\n.*?(?=^\\*\\*\\*$|^## |(?![^]))`, 'ms');

const withExamples = (markdown: string, page: string): string =>
  [...examplesOf(page)].reduce(
    (text, [name, code]) =>
      text.replace(
        sectionOf(name),
        (section) => `${section.trimEnd()}\n\n#### Example\n\n\`\`\`ts\n${code}\n\`\`\`\n\n`,
      ),
    markdown,
  );

/** Writes the options where a reader looks for them: below the function that takes them. */
function withOptions(markdown: string, core: string): string {
  const tableOf = (type: string): string => {
    const [section = ''] = sectionOf(type).exec(core) ?? [];
    const rows = section.split('#### Properties')[1]?.match(/^\| .*\|$/gm) ?? [];
    const cells = rows.map((row) =>
      row.split(/(?<!\\)\| /).map((cell) => cell.replace(/\|?$/, '')),
    );
    const head = cells[0]?.map((cell) => cell.trim()) ?? [];
    const kept = ['Property', 'Type', 'Description'].map((name) => head.indexOf(name));
    return cells
      .map((row) => `| ${kept.map((column) => row[column]!.trim()).join(' | ')} |`)
      .join('\n')
      .replaceAll('](#', '](core.md#')
      .replaceAll(/<a id="[^"]*"><\/a> /g, '');
  };
  return markdown.replace(
    /^### (paymentWebhook(?:Api)?|paymentGate)\(\)\n.*?^#### Returns$/gms,
    (section, name: string) => {
      const type = name === 'paymentGate' ? 'GateOptions' : 'ReceiverOptions';
      return section.replace(/#### Returns$/, `#### Options\n\n${tableOf(type)}\n\n#### Returns`);
    },
  );
}

/** A constant whose value is a sentence. */
const SENTENCE = /^```ts\n\w+: string = '(.+ .+)';\n```$/gm;
const TS_BLOCK = /(^```ts\n.*?^```$)/gms;

/** Writes sentences as text, and breaks declarations that a screen would cut. */
async function withCodeThatFits(markdown: string): Promise<string> {
  const text = markdown.replace(SENTENCE, (_whole, sentence: string) =>
    sentence.replaceAll('<', '&lt;').replaceAll("\\'", "'"),
  );
  const parts = text.split(TS_BLOCK).map(async (part) => {
    const isLong = part.startsWith('```ts\n') && part.split('\n').some((line) => line.length > 100);
    return isLong ? format('api.md', part) : part;
  });
  return (await Promise.all(parts)).map((part) => part.trimEnd()).join('\n\n');
}

async function correctApi(): Promise<void> {
  const core = readFileSync(join(FOLDER, 'api/core.md'), 'utf8');
  for (const name of readdirSync(join(FOLDER, 'api'))) {
    const path = join(FOLDER, 'api', name);
    const written = withAnchorsThatAre(readFileSync(path, 'utf8'));
    const whole = withExamples(name === 'core.md' ? written : withOptions(written, core), name);
    writeFileSync(path, withHeadingsInOrder(await withCodeThatFits(whole)));
  }
}

rmSync(FOLDER, { recursive: true, force: true });
mkdirSync(FOLDER, { recursive: true });
writeReadmes();
await writeApi();
await correctApi();
