import { describe, expect, it } from 'vitest';
import { filesWith, read } from './built-site.js';

/** The pages, without the skill for assistants. */
const markdown = filesWith('.md').filter((path) => !path.startsWith('.well-known/'));
const pictures = filesWith('.svg');

describe('the site for programs', () => {
  it('has a markdown copy of each page', () => {
    expect(markdown.length).toBeGreaterThan(40);
    expect(filesWith('.html').filter((path) => path !== '404.html')).toEqual(
      markdown.map((path) => path.replace(/md$/, 'html')),
    );
  });

  it('lists every English page in llms.txt', () => {
    const listed = Array.from(
      read('llms.txt').matchAll(/^- \[[^\]]+\]\(([^)]+)\)$/gm),
      ([, path]) => path!,
    );
    expect(listed.sort()).toEqual(markdown.filter((path) => !/^(fr\/|index\.md)/.test(path)));
  });

  it('has no broken link in its markdown', () => {
    const broken = markdown.flatMap((path) =>
      Array.from(
        read(path)
          .replace(/^```.*?^```$/gms, '')
          .matchAll(/(?<!`)\]\(([^)\s#]+)[^)]*\)/g),
        ([, target]) => new URL(target!, `http://site.test/${path}`),
      )
        .filter(
          ({ origin, pathname }) =>
            origin === 'http://site.test' &&
            !markdown.includes(pathname.slice(1)) &&
            !pictures.includes(pathname.slice(1)),
        )
        .map(({ pathname }) => `${path}: ${pathname}`),
    );
    expect(broken).toEqual([]);
  });

  it('has the whole guides in llms-full.txt, without long tables and other languages', () => {
    const full = read('llms-full.txt');
    for (const path of ['errors.md', 'security.md']) expect(full).toContain(read(path).trim());
    expect(full).toContain('## In an app that takes payments');
    expect(full).not.toContain('# Attacks and faults');
    expect(full).not.toContain('<!-- fr/');
  });

  it.each([
    'express',
    'fastify',
    'koa',
    'hono',
    'next',
    'next/pages',
    'nest',
    'lambda',
    'node',
    'fetch',
  ])('shows a receiver with @paylink/%s in llms-full.txt', (door) => {
    const full = read('llms-full.txt');
    expect(full).toMatch(
      new RegExp(`^import \\{[^}]*\\b[pP]aymentWebhook\\w*[^}]*\\} from '@paylink/${door}';$`, 'm'),
    );
  });
});
