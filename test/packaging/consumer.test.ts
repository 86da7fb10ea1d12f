import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { packAll, publishedPackages } from './pack.js';

const folder = mkdtempSync(join(tmpdir(), 'paylink-consumer-'));
const run = (command: string, ...args: string[]): string => {
  try {
    return execFileSync(command, args, {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, NODE_ENV: 'test' },
    }).toString();
  } catch (error) {
    // tsc says what it found on stdout.
    const { stdout, stderr } = error as { stdout: Buffer; stderr: Buffer };
    throw new Error(`${command} ${args.join(' ')}\n${stdout.toString()}${stderr.toString()}`);
  }
};

beforeAll(() => {
  cpSync(fileURLToPath(new URL('consumer', import.meta.url)), folder, { recursive: true });
  const tarballs = packAll(folder);
  const dependencies = {
    ...Object.fromEntries(Object.entries(tarballs).map(([name, path]) => [name, `file:${path}`])),
    express: '^5.3.0',
    '@types/express': '^5.0.6',
    '@types/node': '^20.19.0',
    typescript: '5.9.3',
  };
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'consumer', private: true, dependencies }));
  run('npm', 'install', '--no-audit', '--no-fund', '--prefer-offline', '--ignore-scripts');
}, 180_000);

afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

describe('a project outside of the workspace that installs the packed tarballs', () => {
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
    expect(JSON.parse(run('node', file))).toEqual(told);
  });

  it.each([
    ['node16', 'commonjs', ['--module', 'node16', '--moduleResolution', 'node16']],
    ['node16', 'module', ['--module', 'node16', '--moduleResolution', 'node16']],
    ['bundler', 'module', ['--module', 'esnext', '--moduleResolution', 'bundler']],
  ] as const)(
    'compiles in strict TypeScript under moduleResolution %s, as %s, with the libraries checked too',
    (_, type, args) => {
      const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as object;
      writeFileSync(join(folder, 'package.json'), JSON.stringify({ ...manifest, type }));
      run('npx', 'tsc', '-p', '.', ...args);
    },
    120_000,
  );

  it('K02 K03 has one copy of core, without dependencies and install scripts', () => {
    const copies = run('npm', 'ls', '@paylink/core', '--all', '--parseable').trim().split('\n');
    expect(copies).toHaveLength(1);
    for (const name of publishedPackages().keys()) {
      const manifest = JSON.parse(readFileSync(join(folder, 'node_modules', name, 'package.json'), 'utf8')) as Record<
        string,
        Record<string, string>
      >;
      const scripts = Object.keys(manifest['scripts'] ?? {});
      expect(scripts.filter((script) => /install|prepare/.test(script))).toEqual([]);
      if (name === '@paylink/core') expect(manifest['dependencies']).toBeUndefined();
      expect(readdirSync(join(folder, 'node_modules', name))).toEqual(
        expect.arrayContaining(['LICENSE', 'README.md', 'dist', 'package.json']),
      );
    }
  });
});
