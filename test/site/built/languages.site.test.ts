import { describe, expect, it } from 'vitest';
import { filesWith, read } from './built-site.js';

const pages = filesWith('.html').filter((path) => path !== '404.html');
const french = pages.filter((path) => path.startsWith('fr/'));

const ITEM = /href="([^"]+)"[^>]*>(?:<!--\[-->)?<span[^>]*>(?:English|Français)<\/span>/g;

/** Returns the addresses in the page's language menus. */
const menuOf = (path: string): Set<string> =>
  new Set(Array.from(read(path).matchAll(ITEM), ([, href]) => href!.replace(/index\.html$/, '')));

const addressOf = (path: string): string => `/${path.replace(/index\.html$/, '')}`;

describe('the language menu', () => {
  it.each(french)('leads from %s to the same page in English, and back', (path) => {
    const english = path.slice('fr/'.length);
    expect(menuOf(path)).toEqual(new Set([addressOf(english)]));
    expect(menuOf(english)).toEqual(new Set([addressOf(path)]));
  });

  it('leads to the home page if the page is in one language', () => {
    expect(french).not.toContain('fr/performance.html');
    expect(menuOf('performance.html')).toEqual(new Set(['/fr/']));
  });
});

describe('a page in French', () => {
  it.each(french)('has no-break spaces at its marks: %s', (path) => {
    const text = read(path)
      .replace(/<(script|pre|code)\b.*?<\/\1>/gs, '')
      .replace(/<[^>]*>/g, '');
    expect(text.match(/.*(?: [:;?!»]|« ).*/g)).toBeNull();
  });
});
