import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { groupsOf, pagesIn, pagesWithoutPlace, titleOf } from '../../docs/.vitepress/pages.js';

const pages = pagesIn();
const PACKAGES = fileURLToPath(new URL('../../packages', import.meta.url));

describe('the pages of the site', () => {
  it('are all in the sidebar', () => {
    expect(pages.length).toBeGreaterThan(10);
    expect(pagesWithoutPlace(pages)).toEqual([]);
  });

  it('are reported if no group of the sidebar names them', () => {
    expect(pagesWithoutPlace([...pages, 'stray', 'fr/stray', 'start/stray'])).toEqual([
      'stray',
      'fr/stray',
      'start/stray',
    ]);
  });

  it('are in the sidebar once and have a title', () => {
    const placed = (['en', 'fr'] as const).flatMap((locale) =>
      groupsOf(locale, pages).flatMap((group) => group.pages),
    );
    expect(placed).toEqual([...new Set(placed)]);
    for (const page of placed) expect(titleOf(page)).toMatch(/^[^\s'"].*[^\s'"]$/);
  });

  it('have an English original if they are in French', () => {
    const french = pages.filter((page) => page.startsWith('fr/'));
    expect(french).toContain('fr/index');
    expect(french.filter((page) => !pages.includes(page.slice('fr/'.length)))).toEqual([]);
  });

  it('exist if the source of a package names them', () => {
    const named = readdirSync(PACKAGES).flatMap((name) =>
      readdirSync(join(PACKAGES, name, 'src'), { recursive: true, encoding: 'utf8' })
        .filter((path) => /\.tsx?$/.test(path))
        .flatMap((path) =>
          Array.from(
            readFileSync(join(PACKAGES, name, 'src', path), 'utf8').matchAll(
              /docs\/([\w/-]+)\.(?:md|html)/g,
            ),
          ),
        ),
    );
    expect(named.length).toBeGreaterThan(10);
    expect(named.map(([, page]) => page!).filter((page) => !pages.includes(page))).toEqual([]);
  });
});
