import { spawn, type ChildProcess } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { installProject, TYPESCRIPT, type Project } from './project.js';

interface Lockfile {
  readonly packages: Record<string, { readonly hasInstallScript?: boolean }>;
}

describe('a project without frameworks and drivers', () => {
  const ours = [
    'cli',
    'client',
    'core',
    'emulator',
    'fetch',
    'lambda',
    'node',
    'payments',
    'testing',
  ].map((name) => `@paylink/${name}`);
  let bare: Project;

  beforeAll(() => {
    bare = installProject('bare', ours, { ...TYPESCRIPT, typescript: '5.4' });
  }, 180_000);

  afterAll(() => {
    bare.remove();
  }, 60_000);

  it('installs no framework, no driver and no install script', () => {
    const { packages: installed } = bare.json('package-lock.json') as Lockfile;
    const present = [
      'pg',
      '@types/pg',
      '@electric-sql/pglite',
      'ioredis',
      'redis',
      'express',
      'vitest',
    ].filter((name) => `node_modules/${name}` in installed);
    expect(present).toEqual([]);
    expect(Object.keys(installed).filter((path) => installed[path]!.hasInstallScript)).toEqual([]);
  });

  it('can load every entry point', () => {
    const doors = JSON.parse(bare.run('node', 'doors.mjs', ...ours)) as Record<string, unknown>;
    expect(Object.keys(doors)).toEqual(
      expect.arrayContaining(['@paylink/core', '@paylink/payments', '@paylink/testing']),
    );
  });

  it.each(['node16', 'bundler'] as const)(
    'compiles without their types in TypeScript 5.4 under moduleResolution %s, in both module formats, without skipLibCheck',
    (resolution) => {
      bare.compile(resolution);
    },
    120_000,
  );

  describe('that runs paylink', () => {
    let emulator: ChildProcess | undefined;

    afterAll(async () => {
      if (emulator?.exitCode !== null) return;
      emulator.kill('SIGKILL');
      await once(emulator, 'exit');
    });

    const paylink = (...args: string[]): string =>
      bare.run('node_modules/.bin/paylink', ...args).trim();

    it('prints its version', () => {
      const { version } = bare.json('node_modules/@paylink/cli/package.json') as {
        version: string;
      };
      // Never from a registry, where another package has this name.
      expect(bare.run('npx', '--no', '--', 'paylink', '--version').trim()).toBe(version);
    });

    it('signs and diagnoses the bytes of a file', () => {
      const body = '{"reference": "order-42"}\n';
      writeFileSync(join(bare.folder, 'body.json'), body);
      writeFileSync(join(bare.folder, 'secret'), 'a-secret-of-the-portal');
      const signature = createHmac('sha256', 'a-secret-of-the-portal').update(body).digest('hex');
      const args = ['--print', '--body', 'body.json', '--secret-file', 'secret'];
      expect(paylink('trigger', ...args)).toContain(`x-service-signature: ${signature}`);
      const found = paylink('diagnose', '--signature', signature, ...args.slice(1));
      expect(found).toMatch(/^matches/);
    });

    it('emulates the service, creates a link, and exits with 0 at SIGTERM', async () => {
      emulator = spawn('node_modules/.bin/paylink', ['emulate', '--port', '0', '--json'], {
        cwd: bare.folder,
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      const [line] = (await once(createInterface(emulator.stdout!), 'line')) as [string];
      const { baseUrl, apiKey } = JSON.parse(line) as { baseUrl: string; apiKey: string };
      writeFileSync(
        join(bare.folder, '.env'),
        `PAYLINK_BASE_URL=${baseUrl}\nPAYLINK_API_KEY=${apiKey}\n`,
      );
      expect(
        JSON.parse(
          paylink(
            'links',
            'create',
            '--reference',
            'order-42',
            '--amount',
            '15000',
            '--dotenv',
            '.env',
            '--json',
          ),
        ),
      ).toMatchObject({ reference: 'order-42', amount: 15_000 });
      expect(
        JSON.parse(paylink('payments', 'get', 'order-42', '--dotenv', '.env', '--json')),
      ).toMatchObject({ status: 'pending' });
      const ended = once(emulator, 'exit');
      emulator.kill('SIGTERM');
      expect(await ended).toEqual([0, null]);
    });
  });
});
