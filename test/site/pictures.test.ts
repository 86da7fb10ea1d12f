import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { draw } from '../../docs/.vitepress/pictures/svg.js';
import { PICTURES } from '../../docs/.vitepress/pictures/write.js';

const folder = new URL('../../docs/public/', import.meta.url);

describe('a picture of the site', () => {
  it.each(Object.entries(PICTURES))('is as `pnpm docs:pictures` draws it: %s', (file, picture) => {
    expect(readFileSync(new URL(file, folder), 'utf8')).toBe(draw(picture()));
  });

  it('is on a page, or in the README', () => {
    const docs = new URL('../../docs/', import.meta.url);
    const pages = ['.', 'fr', 'start', 'fr/start'].flatMap((below) =>
      readdirSync(new URL(below, docs))
        .filter((name) => name.endsWith('.md'))
        .map((name) => readFileSync(new URL(`${below}/${name}`, docs), 'utf8')),
    );
    const unused = readdirSync(folder).filter(
      (file) =>
        /\.(svg|png|webp)$/.test(file) &&
        !/^(favicon\.svg|og\.png)$/.test(file) &&
        !pages.join('').includes(`/${file}`),
    );
    expect(unused).toEqual([]);
  });
});
