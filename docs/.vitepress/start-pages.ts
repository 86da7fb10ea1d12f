/**
 * The quick starts. In the repository their code is in files, which the pages link to, and the page
 * of a host has only the parts that differ from the page that its `steps` names. On the site each
 * page is whole.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DOCS, type Locale } from './pages.js';

/** The folders of the quick starts, below docs/. */
export const FOLDERS = { en: 'start', fr: 'fr/start' } as const;

export const HOSTS = readdirSync(join(DOCS, FOLDERS.en))
  .filter((file) => file.endsWith('.md'))
  .map((file) => file.replace('.md', ''));

/** A paragraph that is only a link to a file, named by its path in the reader's project. */
const CODE = /^\[`(\S+\.(\w+))`\]\((\S+)\)$/gm;
const LANGUAGES: Readonly<Record<string, string>> = { json: 'jsonc' };
const BLOCK = /^```(\w+)[^\n]*\n(?:(?:\/\/|--) (\S+)\n)?.*?^```$/gms;

/** Splits a page into its head with the introduction, and its numbered sections. */
function sectionsOf(locale: Locale, host: string): string[] {
  const file = join(DOCS, FOLDERS[locale], `${host}.md`);
  return readFileSync(file, 'utf8')
    .replace(CODE, (_link, path: string, ending: string, target: string) => {
      const code = readFileSync(join(dirname(file), target), 'utf8');
      const mark = ending === 'sql' ? '--' : '//';
      return `\`\`\`${LANGUAGES[ending] ?? ending}\n${mark} ${path}\n${code}\`\`\``;
    })
    .split(/^(?=## )/m);
}

const numberOf = (section: string): string | undefined => /^## (\d+)\. /.exec(section)?.[1];

/**
 * Replaces blocks of a section: files by their names, and each other block with the next one of its
 * language. If a file has another name, the host has none of the section's files.
 */
function withBlocks(section: string, hostSection: string): string {
  const own = Array.from(hostSection.matchAll(BLOCK), ([text, language, file]) => ({
    text,
    language,
    file,
  }));
  const files = own.filter(({ file }) => file !== undefined);
  const others = own.filter(({ file }) => file === undefined);
  const names = Array.from(section.matchAll(BLOCK), ([, , file]) => file);
  const hasOtherFiles = files.some(({ file }) => !names.includes(file));
  return section
    .replace(BLOCK, (text, language: string, file?: string) => {
      if (file === undefined) {
        const next = others.findIndex((block) => block.language === language);
        return next === -1 ? text : others.splice(next, 1)[0]!.text;
      }
      if (hasOtherFiles)
        return files
          .splice(0)
          .map((block) => block.text)
          .join('\n\n');
      return files.find((block) => block.file === file)?.text ?? text;
    })
    .replace(/\n{3,}/g, '\n\n');
}

const proseOf = (section: string): string =>
  section
    .replace(/^## .*$/m, '')
    .replace(BLOCK, '')
    .replace(/\n{3,}/g, '\n\n')
    .trim();

/** Puts a host's words behind the last file of a section. */
function withProse(section: string, hostSection: string): string {
  const prose = proseOf(hostSection);
  const last = [...section.matchAll(BLOCK)].findLast(([, , file]) => file !== undefined);
  if (prose === '' || last === undefined) return section;
  const end = last.index + last[0].length;
  return `${section.slice(0, end)}\n\n${prose}${section.slice(end)}`;
}

const STEPS = /^steps: ([\w-]+)\n/m;
const HEAD = /^---\n.*?^# .*?\n\n/ms;

function wholeSections(locale: Locale, host: string): string[] {
  const english = sectionsOf('en', host);
  const [, steps] = STEPS.exec(english[0]!) ?? [];
  if (steps === undefined) return sectionsOf(locale, host);
  const own = sectionsOf(locale, host);
  const [front = '', ...sections] = wholeSections(locale, steps);
  const [, adapter] = /@paylink\/(?!client|payments)(\w+)/.exec(english.join('')) ?? [];
  const [head = ''] = HEAD.exec(own[0]!) ?? [];
  // The first paragraph says where the other steps are.
  const [, ...introduction] = own[0]!.slice(head.length).trim().split('\n\n');
  return [
    [
      head.replace(STEPS, ''),
      front.replace(HEAD, ''),
      ...introduction.map((text) => `${text}\n\n`),
    ].join(''),
    ...sections.map((section) => {
      const same = (other: string): boolean =>
        numberOf(section) !== undefined && numberOf(other) === numberOf(section);
      const replaced = withBlocks(section, english.find(same) ?? '');
      const whole = withProse(replaced, own.find(same) ?? '');
      return adapter === undefined ? whole : whole.replace(/pack:all \w+/, `pack:all ${adapter}`);
    }),
  ];
}

/** A box of the site, which is a quotation in the repository. */
const BOX = /^> \*\*(\w+) ?:\*\* (.+)$/gm;

/** Returns the quick start of a host, as the site shows it. */
export const startPage = (locale: Locale, host: string): string =>
  wholeSections(locale, host)
    .join('')
    .replace(BOX, '::: tip $1\n$2\n:::')
    // The site serves the pictures at its root.
    .replace(/ src="(?:\.\.\/)+public\//g, ' src="/');

const START = /^(fr\/)?start\/([\w-]+)\.md$/;

/** Returns the Markdown that the site shows for a file, by its path below docs/. */
export function sourceOf(path: string, text: string): string {
  const [, french, host] = START.exec(path) ?? [];
  return host === undefined ? text : startPage(french === undefined ? 'en' : 'fr', host);
}
