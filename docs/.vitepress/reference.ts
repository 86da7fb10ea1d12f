/**
 * Writes the pages that are in no commit: the quick starts, the packages' READMEs, and the API of
 * each door from its docstrings. `pnpm docs:build` runs it first.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import GithubSlugger from 'github-slugger';
import { Application, Converter } from 'typedoc';
import { doors } from '../../scripts/public-api.mjs';
import { pageOfReadme, withSiteLinks } from './links.js';
import { DOCS, REFERENCE } from './pages.js';
import { writeStartPages } from './start-pages.js';

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
  const slugger = new GithubSlugger();
  const headings = Array.from(markdown.matchAll(/^#+ (.+)$/gm), ([, heading]) =>
    slugger.slug(heading!.replaceAll('\\', '')),
  );
  const named = Array.from(markdown.matchAll(/<a id="([^"]+)">/g), ([, id]) => id!);
  const anchors = new Set([...headings, ...named]);
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

function correctApi(): void {
  for (const name of readdirSync(join(FOLDER, 'api'))) {
    const path = join(FOLDER, 'api', name);
    writeFileSync(path, withHeadingsInOrder(withAnchorsThatAre(readFileSync(path, 'utf8'))));
  }
}

rmSync(FOLDER, { recursive: true, force: true });
mkdirSync(FOLDER, { recursive: true });
writeReadmes();
await writeStartPages();
await writeApi();
correctApi();
