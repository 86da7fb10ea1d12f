import { describe, expect, it } from 'vitest';
import { filesWith, read } from './built-site.js';

const markdown = filesWith('.md');

describe('the site for programs', () => {
  it('has each page as markdown beside its HTML', () => {
    expect(markdown.length).toBeGreaterThan(40);
    expect(filesWith('.html').filter((path) => path !== '404.html')).toEqual(
      markdown.map((path) => path.replace(/md$/, 'html')),
    );
  });

  it('lists in llms.txt every page in English, each where it is', () => {
    const listed = Array.from(
      read('llms.txt').matchAll(/^- \[[^\]]+\]\(([^)]+)\)$/gm),
      ([, path]) => path!,
    );
    expect(listed.sort()).toEqual(markdown.filter((path) => !/^(fr\/|index\.md)/.test(path)));
  });

  it('links in markdown to what is there, and to nothing outside of the site', () => {
    const broken = markdown.flatMap((path) =>
      Array.from(
        read(path)
          .replace(/^```.*?^```$/gms, '')
          .matchAll(/(?<!`)\]\(([^)\s#]+)[^)]*\)/g),
        ([, target]) => new URL(target!, `http://site.test/${path}`),
      )
        .filter(
          ({ origin, pathname }) =>
            origin === 'http://site.test' && !markdown.includes(pathname.slice(1)),
        )
        .map(({ pathname }) => `${path}: ${pathname}`),
    );
    expect(broken).toEqual([]);
  });

  it('has in llms-full.txt the guides whole, and neither long tables nor another language', () => {
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
  ])('has in llms-full.txt how a receiver is written with @paylink/%s', (door) => {
    const full = read('llms-full.txt');
    expect(full).toMatch(
      new RegExp(`^import \\{[^}]*\\b[pP]aymentWebhook\\w*[^}]*\\} from '@paylink/${door}';$`, 'm'),
    );
  });
});
