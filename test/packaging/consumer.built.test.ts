import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { publishedPackages } from './pack.js';
import { installProject, TYPESCRIPT, type Project } from './project.js';

const packages = [...publishedPackages().keys()];

describe('a project that installs the packed tarballs', () => {
  let shop: Project;

  beforeAll(() => {
    shop = installProject('shop', packages, {
      ...TYPESCRIPT,
      express: '^5.3.0',
      '@types/express': '^5.0.6',
      libsql: '^0.5.29',
      // A stand-in, because @paylink/next imports types alone, and Next.js has 300 MB.
      next: 'file:next',
    });
  }, 180_000);

  afterAll(() => {
    shop.remove();
  }, 60_000);

  const told = {
    results: {
      express: [
        [200, '{"received":true}'],
        [401, '{"error":"invalid_signature"}'],
      ],
      node: [
        [200, '{"received":true}'],
        [401, '{"error":"invalid_signature"}'],
      ],
    },
    credited: ['order-express', 'order-node'],
  };

  it.each(['esm.mjs', 'cjs.cjs'])(
    'accepts a genuine and refuses a forged delivery in %s',
    (file) => {
      expect(JSON.parse(shop.run('node', file))).toEqual(told);
    },
  );

  describe.each(['purchase-esm.mjs', 'purchase-cjs.cjs'])('running %s', (file) => {
    it('credits a purchase once on a database if two notifications come', () => {
      expect(JSON.parse(shop.run('node', file))).toEqual({
        credits: 1,
        again: 200,
        listed: ['order-42'],
      });
    }, 60_000);
  });

  it('gets the same names of every entry point by import and by require', () => {
    const doors = JSON.parse(shop.run('node', 'doors.mjs', ...packages)) as Record<
      string,
      Record<'import' | 'require', string[]>
    >;
    expect(Object.keys(doors)).toEqual(
      expect.arrayContaining([
        '@paylink/core/diagnose',
        '@paylink/core/internal',
        '@paylink/next/pages',
        '@paylink/testing/adapter',
      ]),
    );
    for (const [door, names] of Object.entries(doors)) {
      expect(names.import, door).not.toEqual([]);
      expect(names.require, door).toEqual(names.import);
    }
  });

  it.each(['node16', 'bundler'] as const)(
    'compiles in strict TypeScript under moduleResolution %s, in both module formats, without skipLibCheck',
    (resolution) => {
      shop.compile(resolution);
    },
    120_000,
  );

  it('has one copy of core', { tags: ['K03', 'K02'] }, () => {
    expect(
      shop.run('npm', 'ls', '@paylink/core', '--all', '--parseable').trim().split('\n'),
    ).toHaveLength(1);
  });
});
