/**
 * Makes the quick starts from quick-start/: one template for each language, one file for each host,
 * and the files that all hosts share. Supabase has its own templates. The pages are in no commit.
 * The site and the tests make them.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { format } from '../../scripts/format.mjs';
import { DOCS, type Locale } from './pages.js';

const SOURCES = join(DOCS, '.vitepress/quick-start');
const PLACEHOLDER = /\{\{([\w.-]+)\}\}/g;

export const HOSTS = readdirSync(join(SOURCES, 'hosts')).map((file) => file.replace('.md', ''));

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

/** Returns the quick start of a host, as the site shows it. */
export async function startPage(locale: Locale, host: string): Promise<string> {
  const own = readValues(`hosts/${host}.md`);
  const values: Record<string, string> = {
    ...readValues('shared.md'),
    ...(own['use'] === undefined ? {} : readValues(`${own['use']}.md`)),
    name: own['title'] ?? '',
    ...own,
  };
  if (locale === 'fr' && own['nom'] !== undefined) values['name'] = own['nom'];
  const { template = '' } = own;
  const text = fill(readFileSync(join(SOURCES, template, `${locale}.md`), 'utf8'), values);
  return format('start.md', text);
}

/** The folder of the quick starts, below docs/. */
export const FOLDERS = { en: 'start', fr: 'fr/start' } as const;

/** Writes the pages of both languages for the site. */
export async function writeStartPages(): Promise<void> {
  for (const locale of ['en', 'fr'] as const) {
    rmSync(join(DOCS, FOLDERS[locale]), { recursive: true, force: true });
    for (const host of HOSTS) {
      const path = join(DOCS, FOLDERS[locale], `${host}.md`);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, await startPage(locale, host));
    }
  }
}
