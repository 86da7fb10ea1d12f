import { spawn, type ChildProcess } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startRedis, withoutRedis } from '../engines/redis.js';
import { packAll, publishedPackages } from './pack.js';
import { installProject, type Project } from './project.js';

interface Manifest {
  readonly version: string;
  readonly dependencies?: Record<string, string>;
  readonly scripts?: Record<string, string>;
}
interface Lockfile {
  readonly packages: Record<string, { readonly hasInstallScript?: boolean }>;
}

const TYPESCRIPT = { '@types/node': '^20.19.0', typescript: '5.9.3' };
const noRedis = withoutRedis();
const packages = [...publishedPackages().keys()];
const tarballFolder = mkdtempSync(join(tmpdir(), 'paylink-tarballs-'));
let tarballs: Record<string, string>;

beforeAll(() => {
  tarballs = Object.fromEntries(Object.entries(packAll(tarballFolder)).map(([name, path]) => [name, `file:${path}`]));
}, 60_000);

afterAll(() => {
  rmSync(tarballFolder, { recursive: true, force: true });
});

describe('a project outside of the workspace that installs the packed tarballs', () => {
  let shop: Project;

  beforeAll(() => {
    shop = installProject('shop', {
      ...tarballs,
      ...TYPESCRIPT,
      express: '^5.3.0',
      '@types/express': '^5.0.6',
      pg: '^8.23.1',
      '@types/pg': '^8.23.1',
      '@electric-sql/pglite': '^0.5.16',
      ioredis: '^6.0.0',
    });
  }, 180_000);

  afterAll(() => {
    shop.remove();
  });

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

  it.each(['esm.mjs', 'cjs.cjs'])('receives a genuine and a forged delivery as %s', (file) => {
    expect(JSON.parse(shop.run('node', file))).toEqual(told);
  });

  describe.each(['purchase-esm.mjs', 'purchase-cjs.cjs'])('as %s', (file) => {
    const database = { credits: 1, again: 200, duplicates: ['order-42'] };

    it('credits a purchase once on a database', () => {
      expect(JSON.parse(shop.run('node', file))).toEqual({ database });
    });

    it.skipIf(noRedis)('credits once through a queue', async () => {
      const redis = await startRedis();
      try {
        const queue = { statuses: [200, 200], credited: [['order-42', 'number']] };
        expect(JSON.parse(shop.run('node', file, `${redis.port}`))).toEqual({ database, queue });
      } finally {
        await redis.close();
      }
    });
  });

  it('opens every door by import and by require, with the same names behind it', () => {
    const doors = JSON.parse(shop.run('node', 'doors.mjs', ...packages)) as Record<string, Record<'import' | 'require', string[]>>;
    expect(Object.keys(doors)).toEqual(
      expect.arrayContaining(['@paylink/core/diagnose', '@paylink/next/pages', '@paylink/testing/adapter']),
    );
    for (const [door, names] of Object.entries(doors)) {
      expect(names.import, door).not.toEqual([]);
      expect(names.require, door).toEqual(names.import);
    }
  });

  it.each([
    ['node16', 'commonjs', ['--module', 'node16', '--moduleResolution', 'node16']],
    ['node16', 'module', ['--module', 'node16', '--moduleResolution', 'node16']],
    ['bundler', 'module', ['--module', 'esnext', '--moduleResolution', 'bundler']],
  ] as const)(
    'compiles in strict TypeScript under moduleResolution %s, as %s, with the libraries checked too',
    (_, type, args) => {
      shop.setType(type);
      shop.run('npx', 'tsc', '-p', '.', ...args);
    },
    120_000,
  );

  it('K02 K03 has one copy of core', () => {
    expect(shop.run('npm', 'ls', '@paylink/core', '--all', '--parseable').trim().split('\n')).toHaveLength(1);
  });

  it.each(packages)('K03 gets with %s what it names here, and no install script', (name) => {
    const others: Record<string, string[]> = {
      '@paylink/cli': ['commander', 'picocolors'],
      '@paylink/emulator': ['@hono/node-server', 'hono'],
      '@paylink/node': ['raw-body'],
    };
    const { dependencies = {}, scripts = {} } = shop.json<Manifest>(`node_modules/${name}/package.json`);
    const [ours, theirs] = [true, false].map((own) =>
      Object.keys(dependencies).filter((dependency) => dependency.startsWith('@paylink/') === own),
    );
    expect(theirs!.sort()).toEqual(others[name] ?? []);
    if (['@paylink/core', '@paylink/client', '@paylink/testing'].includes(name)) expect(ours).toEqual([]);
    expect(Object.keys(scripts).filter((script) => /install|prepare/.test(script))).toEqual([]);
    expect(readdirSync(join(shop.folder, 'node_modules', name)).sort()).toEqual(['LICENSE', 'README.md', 'dist', 'package.json']);
  });
});

describe('a project that has none of the frameworks and drivers', () => {
  const ours = ['cli', 'client', 'core', 'emulator', 'fetch', 'lambda', 'node', 'postgres', 'redis', 'testing'].map(
    (name) => `@paylink/${name}`,
  );
  let bare: Project;

  beforeAll(() => {
    const dependencies = Object.fromEntries(ours.map((name) => [name, tarballs[name]!]));
    bare = installProject('bare', { ...dependencies, ...TYPESCRIPT, 'typescript-5.4': 'npm:typescript@5.4' });
  }, 120_000);

  afterAll(() => {
    bare.remove();
  });

  it('gets none of them, and no install script of anybody', () => {
    const installed = bare.json<Lockfile>('package-lock.json').packages;
    const present = ['pg', '@types/pg', '@electric-sql/pglite', 'ioredis', 'redis', 'express', 'vitest'].filter(
      (name) => `node_modules/${name}` in installed,
    );
    expect(present).toEqual([]);
    expect(Object.keys(installed).filter((path) => installed[path]!.hasInstallScript)).toEqual([]);
  });

  it('opens every door all the same', () => {
    const doors = JSON.parse(bare.run('node', 'doors.mjs', ...ours)) as Record<string, unknown>;
    expect(Object.keys(doors)).toEqual(expect.arrayContaining(['@paylink/postgres', '@paylink/redis', '@paylink/testing']));
  });

  it.each([
    ['typescript', 'node16', ['--module', 'node16']],
    ['typescript', 'bundler', ['--module', 'esnext']],
    ['typescript-5.4', 'node16', ['--module', 'node16']],
    ['typescript-5.4', 'bundler', ['--module', 'esnext']],
  ] as const)(
    'compiles without their types in %s under moduleResolution %s, as both kinds of module, with the libraries checked too',
    (compiler, resolution, args) => {
      bare.run('node', `node_modules/${compiler}/bin/tsc`, '-p', '.', '--moduleResolution', resolution, ...args);
    },
    120_000,
  );

  describe('and runs paylink', () => {
    let emulator: ChildProcess | undefined;

    afterAll(async () => {
      if (emulator === undefined || emulator.exitCode !== null) return;
      emulator.kill('SIGKILL');
      await once(emulator, 'exit');
    });

    // Never from a registry: what is there under this name is not ours.
    const paylink = (...args: string[]): string => bare.run('npx', '--no', 'paylink', ...args).trim();

    it('which says its version', () => {
      expect(paylink('--version')).toBe(bare.json<Manifest>('node_modules/@paylink/cli/package.json').version);
    });

    it('which signs the bytes of a file', () => {
      const body = '{"reference": "order-42"}\n';
      writeFileSync(join(bare.folder, 'body.json'), body);
      writeFileSync(join(bare.folder, 'secret'), 'a-secret-of-the-portal');
      const signature = createHmac('sha256', 'a-secret-of-the-portal').update(body).digest('hex');
      expect(paylink('sign', '--body', 'body.json', '--secret-file', 'secret')).toBe(signature);
      expect(paylink('diagnose', '--body', 'body.json', '--signature', signature, '--secret-file', 'secret')).toMatch(/^matches/);
    });

    it('which is the service, takes a link, and ends with 0 on SIGTERM', async () => {
      emulator = spawn('node_modules/.bin/paylink', ['emulate', '--port', '0', '--json'], {
        cwd: bare.folder,
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      const [line] = (await once(createInterface(emulator.stdout!), 'line')) as [string];
      const { baseUrl, apiKey } = JSON.parse(line) as { baseUrl: string; apiKey: string };
      writeFileSync(join(bare.folder, '.env'), `PAYLINK_BASE_URL=${baseUrl}\nPAYLINK_API_KEY=${apiKey}\n`);
      expect(
        JSON.parse(paylink('links', 'create', '--reference', 'order-42', '--amount', '15000', '--dotenv', '.env', '--json')),
      ).toMatchObject({ reference: 'order-42', amount: 15_000 });
      expect(JSON.parse(paylink('payments', 'get', 'order-42', '--dotenv', '.env', '--json'))).toMatchObject({ status: 'pending' });
      const ended = once(emulator, 'exit');
      emulator.kill('SIGTERM');
      expect(await ended).toEqual([0, null]);
    });
  });
});
