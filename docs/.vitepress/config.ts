import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { slug } from 'github-slugger';
import { defineConfigWithTheme, type DefaultTheme, type HeadConfig } from 'vitepress';
import { writeMarkdownCopies } from './copies.js';
import { withSiteLinks } from './links.js';
import { extendMarkdown } from './markdown.js';
import {
  descriptionOf,
  DOCS,
  groupsOf,
  NO_PAGES,
  pagesIn,
  REFERENCE,
  titleInHead,
  titleOf,
  type Locale,
  type PlacedGroup,
} from './pages.js';
import { createSearch } from './search.js';
import { sourceOf } from './start-pages.js';
import type { SiteTheme } from './theme/index.js';
import { writeWellKnown } from './well-known.js';
import { SOURCE } from '../../scripts/source.mjs';

const pages = pagesIn();

// Where the site is not at the root of its host: /paylink/
const BASE = process.env['PAYLINK_DOCS_BASE'] ?? '/';

/** The site's origin, such as https://docs.example.com. Without it, no canonical address is known. */
const ORIGIN = process.env['PAYLINK_DOCS_ORIGIN'];
const { GITHUB_REPOSITORY, GITHUB_SERVER_URL = 'https://github.com' } = process.env;
const REPOSITORY =
  GITHUB_REPOSITORY === undefined ? undefined : `${GITHUB_SERVER_URL}/${GITHUB_REPOSITORY}`;

/** Pages that a build step writes: nobody edits them, and they have no history. */
const isWritten = (page: string): boolean => page.startsWith(`${REFERENCE}/`);

const addressOf = (page: string): string =>
  `${ORIGIN ?? ''}${BASE}${page.replace(/(^|\/)index$/, '$1')}${/(^|\/)index$/.test(page) ? '' : '.html'}`;

const PACKAGES = fileURLToPath(new URL('../../packages', import.meta.url));
const { version } = JSON.parse(readFileSync(`${PACKAGES}/core/package.json`, 'utf8')) as {
  readonly version: string;
};
const IS_RELEASED = version !== '0.0.0';

const repositoryLinks: DefaultTheme.SocialLink[] | undefined =
  REPOSITORY === undefined
    ? undefined
    : [
        { icon: 'github', link: REPOSITORY },
        ...(IS_RELEASED
          ? [{ icon: 'npm', link: 'https://www.npmjs.com/package/@paylink/core' }]
          : []),
      ];

const editLinkOf = (text: string): Pick<DefaultTheme.Config, 'editLink'> =>
  REPOSITORY === undefined
    ? {}
    : { editLink: { pattern: `${REPOSITORY}/edit/main/docs/:path`, text } };

/** The day, in the words of the page's language. */
const DAY = { dateStyle: 'long', forceLocale: true } as const;

function sidebarOf(locale: Locale): DefaultTheme.SidebarMulti {
  const itemsOf = (groups: readonly PlacedGroup[], isInStart: boolean) =>
    groups.map(({ text, pages, isFolded }) => ({
      text,
      items:
        isFolded === true && !isInStart
          ? [{ text: FIRST_PAYMENT[locale], link: `/${pages[0]!}` }]
          : pages.map((page) => ({ text: titleOf(page), link: `/${page}` })),
    }));
  const groups = groupsOf(locale, pages);
  const guides = groups.filter((group) => !group.isReference);
  const root = locale === 'en' ? '/' : `/${locale}/`;
  return {
    [`${root}${REFERENCE}/`]: itemsOf(
      groups.filter((group) => group.isReference),
      false,
    ),
    [`${root}start/`]: itemsOf(guides, true),
    [root]: itemsOf(guides, false),
  };
}

const FIRST_PAYMENT = { en: 'Receive a payment', fr: 'Recevoir un paiement' } as const;

/** Of these links, those whose page there is. */
const navOf = (
  ...items: readonly (readonly [text: string, page: string])[]
): DefaultTheme.NavItemWithLink[] =>
  items
    .filter(([, page]) => pages.includes(page))
    .map(([text, page]) => ({ text, link: `/${page}` }));

const search = createSearch(BASE);

/** Blocks in colours. Pages share many, and each is rendered for the server and the browser. */
const highlighted = new Map<string, string>();

export default defineConfigWithTheme<SiteTheme>({
  title: 'Paylink',
  description: 'Safely take payments through the Payment Link Service on Node',
  base: BASE,
  srcExclude: NO_PAGES.map((folder) => `${folder}/**`),
  lastUpdated: true,
  ...(ORIGIN === undefined ? {} : { sitemap: { hostname: `${ORIGIN}${BASE}` } }),
  head: [['link', { rel: 'icon', type: 'image/svg+xml', href: `${BASE}favicon.svg` }]],
  markdown: {
    // As where the repository is read, so that one link works on both: an error's code keeps its
    // underscore.
    anchor: { slugify: slug },
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    languageAlias: { cjs: 'js', mts: 'ts' },
    config(md) {
      extendMarkdown(md);
      const { options } = md;
      const { highlight } = options;
      options.highlight = (...block) => {
        const key = JSON.stringify(block);
        const html = highlighted.get(key) ?? highlight!(...block);
        highlighted.set(key, html);
        return html;
      };
    },
  },
  locales: {
    root: {
      label: 'English',
      lang: 'en-GB',
      themeConfig: {
        version: IS_RELEASED ? version : 'not released',
        nav: [
          ...navOf(['Start', 'start/express'], ['Guides', 'going-live']),
          {
            text: 'Reference',
            items: navOf(
              ['Errors', 'errors'],
              ['Packages', 'reference/overview'],
              ['API', 'reference/api/index'],
            ),
          },
          ...navOf(['Databases', 'databases'], ['Why', 'no-table']),
        ],
        sidebar: sidebarOf('en'),
      },
    },
    fr: {
      label: 'Français',
      lang: 'fr',
      description: 'Encaisser sans risque les paiements du Payment Link Service, sur Node',
      themeConfig: {
        version: IS_RELEASED ? version : 'non publié',
        ...editLinkOf('Modifier cette page'),
        nav: [
          ...navOf(['Démarrer', 'fr/start/express'], ['Guides', 'fr/going-live']),
          {
            text: 'Référence',
            items: navOf(
              ['Erreurs', 'fr/errors'],
              ['Dépannage', 'fr/runbook'],
              ['FAQ', 'fr/faq'],
              ['Diagnostic', 'fr/diagnose'],
            ),
          },
          ...navOf(['Bases de données', 'fr/databases'], ['Pourquoi', 'fr/guarantees']),
        ],
        sidebar: sidebarOf('fr'),
        outline: { label: 'Sur cette page', level: [2, 3] },
        docFooter: { prev: 'Page précédente', next: 'Page suivante' },
        lastUpdated: { text: 'Mise à jour', formatOptions: DAY },
        smallPrint: 'Licence MIT. Les guides non traduits sont en anglais.',
        darkModeSwitchLabel: 'Apparence',
        lightModeSwitchTitle: 'Passer au thème clair',
        darkModeSwitchTitle: 'Passer au thème sombre',
        sidebarMenuLabel: 'Menu',
        returnToTopLabel: 'Haut de la page',
        langMenuLabel: 'Changer de langue',
        skipToContentLabel: 'Aller au contenu',
        notFound: {
          title: 'Page introuvable',
          quote: 'Cette page n’existe pas, ou son adresse a changé. Essayez la recherche.',
          linkLabel: 'Retour à l’accueil',
          linkText: 'Accueil',
        },
      },
    },
  },
  themeConfig: {
    logo: { src: '/favicon.svg', alt: '' },
    outline: { level: [2, 3] },
    lastUpdated: { text: 'Last updated', formatOptions: DAY },
    ...(repositoryLinks === undefined ? {} : { socialLinks: repositoryLinks }),
    ...editLinkOf('Edit this page'),
    smallPrint: 'MIT licence. English pages use British spelling.',
    notFound: {
      title: 'Page not found',
      quote: 'This page does not exist, or its address has changed. Try the search.',
      linkText: 'Home',
    },
    search: {
      provider: 'local',
      options: {
        miniSearch: search.miniSearch,
        _render: search.render,
        locales: {
          fr: {
            translations: {
              button: { buttonText: 'Rechercher', buttonAriaLabel: 'Rechercher' },
              modal: {
                displayDetails: 'Afficher les détails',
                resetButtonTitle: 'Effacer la recherche',
                backButtonTitle: 'Fermer la recherche',
                noResultsText: 'Aucun résultat pour',
                footer: {
                  selectText: 'pour ouvrir',
                  selectKeyAriaLabel: 'entrée',
                  navigateText: 'pour choisir',
                  navigateUpKeyAriaLabel: 'flèche vers le haut',
                  navigateDownKeyAriaLabel: 'flèche vers le bas',
                  closeText: 'pour fermer',
                  closeKeyAriaLabel: 'échap',
                },
              },
            },
          },
        },
      },
    },
  },
  vite: {
    plugins: [
      search.plugin,
      {
        name: 'paylink-links',
        enforce: 'pre',
        transform: (code, id) => {
          if (!isPage(id)) return undefined;
          const path = id.slice(DOCS.length);
          return withSiteLinks(sourceOf(path, code), `docs/${path}`);
        },
      },
    ],
    resolve: {
      conditions: [SOURCE],
      alias: [
        {
          find: /^\.\.?\/composables\/langs$/,
          replacement: `${DOCS}.vitepress/theme/languages.ts`,
        },
      ],
    },
    build: { chunkSizeWarningLimit: 4_000 },
  },
  transformPageData: ({ frontmatter, relativePath }) => {
    const page = relativePath.slice(0, -'.md'.length);
    const other = page.startsWith('fr/') ? page.slice('fr/'.length) : `fr/${page}`;
    const title = titleInHead(page);
    return {
      description: descriptionOf(page),
      ...(title === undefined ? {} : { title }),
      frontmatter: {
        ...frontmatter,
        ...(isWritten(page) ? { editLink: false, lastUpdated: false } : {}),
        ...pagerOf(page),
        ...(pages.includes(other) ? { translation: `/${other}.html` } : {}),
      },
    };
  },
  transformHead: ({ page, title, description }) => {
    if (page === '404.md') return [];
    const name = page.replace(/\.md$/, '');
    const english = name.replace(/^fr\//, '');
    const versions = [
      ['en', english],
      ['fr', `fr/${english}`],
    ].filter(([, each]) => pages.includes(each!));
    return [
      ['link', { rel: 'alternate', type: 'text/markdown', href: `${BASE}${page}` }],
      ...versions.map(([hreflang, each]): HeadConfig => [
        'link',
        { rel: 'alternate', hreflang: hreflang!, href: addressOf(each!) },
      ]),
      ['meta', { property: 'og:type', content: 'website' }],
      ['meta', { property: 'og:title', content: title }],
      ['meta', { property: 'og:description', content: description }],
      ...(ORIGIN === undefined ? [] : absoluteHead(name)),
    ];
  },
  buildEnd({ outDir }) {
    writeMarkdownCopies(pages, outDir);
    writeWellKnown(outDir);
  },
});

/** After a quick start comes going live, and not the same steps on another host. */
function pagerOf(page: string): Record<string, unknown> {
  const [, prefix] = /^(fr\/)?start\//.exec(page) ?? [null];
  if (prefix === null) return {};
  const next = `${prefix ?? ''}going-live`;
  return { prev: false, next: { text: titleOf(next), link: `/${next}` } };
}

/** Links and pictures that must have an absolute address. */
const absoluteHead = (page: string): HeadConfig[] => [
  ['link', { rel: 'canonical', href: addressOf(page) }],
  ['meta', { property: 'og:url', content: addressOf(page) }],
  ['meta', { property: 'og:image', content: `${ORIGIN}${BASE}og.png` }],
  ['meta', { name: 'twitter:card', content: 'summary_large_image' }],
];

const isPage = (id: string): boolean => id.startsWith(DOCS) && id.endsWith('.md');
