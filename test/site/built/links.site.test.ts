import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { DIST, filesWith, read } from './built-site.js';

const pages = new Map(filesWith('.html').map((path) => [path, read(path)]));

const anchorsOf = (html: string): Set<string> =>
  new Set(Array.from(html.matchAll(/\sid="([^"]+)"/g), ([, id]) => id!));

const anchors = new Map(Array.from(pages, ([path, html]) => [path, anchorsOf(html)]));

/** Returns a page's links and resources within the site that lead nowhere. */
function brokenIn(path: string, html: string): string[] {
  const targets = Array.from(html.matchAll(/\s(?:href|src)="([^"]+)"/g), ([, target]) =>
    target!.replaceAll('&amp;', '&'),
  );
  return [...new Set(targets)].filter((target) => {
    const { origin, pathname, hash } = new URL(target, `http://site.test/${path}`);
    if (origin !== 'http://site.test') return false;
    const file = decodeURIComponent(pathname.slice(1)).replace(/(^|\/)$/, '$1index.html');
    if (!existsSync(join(DIST, file))) return true;
    return hash !== '' && anchors.get(file)?.has(decodeURIComponent(hash.slice(1))) !== true;
  });
}

describe('the built site', () => {
  it.each([...pages])('has no broken link, picture or anchor in %s', (path, html) => {
    expect(brokenIn(path, html)).toEqual([]);
  });

  it('is reported if it has a broken link, anchor or picture', () => {
    const html =
      '<a href="/nowhere.html"></a><a href="errors.html#nothing"></a><img src="./none.png"><a href="errors.html#body_consumed"></a>';
    expect(brokenIn('index.html', html)).toEqual([
      '/nowhere.html',
      'errors.html#nothing',
      './none.png',
    ]);
  });

  it('has the anchor #<code> that a log line links to, for each error', () => {
    const api = readFileSync(new URL('../../../public-api.txt', import.meta.url), 'utf8');
    const codes = Array.from(
      api.matchAll(/^@paylink\/core WebhookErrorCode = "([a-z_]+)"$/gm),
      ([, code]) => code!,
    );
    expect(codes.length).toBeGreaterThan(15);
    expect(codes.filter((code) => !anchors.get('errors.html')!.has(code))).toEqual([]);
  });

  it('loads no resource of another origin', () => {
    const foreign = Array.from(pages).flatMap(([path, html]) =>
      Array.from(
        html.matchAll(
          /<(?:script|link|img|iframe|source|video|audio)\b[^>]*\s(?:src|href)="((?:https?:)?\/\/[^"]+)"/g,
        ),
        ([, url]) => `${path}: ${url}`,
      ),
    );
    expect(foreign).toEqual([]);
    const styles = filesWith('.css').flatMap((path) =>
      Array.from(read(path).matchAll(/url\(["']?(?:https?:)?\/\/[^)]+\)/g), ([url]) => url),
    );
    expect(styles).toEqual([]);
  });
});
