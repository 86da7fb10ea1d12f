/** An npm registry on loopback. */
import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { installPackage } from '../../test/runtimes/install.js';
import { freePort, untilReady } from '../../test/servers/starting.js';

// Verdaccio requests node-fetch by a tag that some registries lack.
const VERDACCIO = {
  package: 'verdaccio',
  version: '6.2.1',
  overrides: { 'node-fetch': '2.7.0' },
};

export interface Registry {
  /** Deleted on close. */
  readonly folder: string;
  readonly url: string;
  /** Settings for npm and pnpm, with a token that this registry accepts from anybody. */
  readonly npmrc: string;
  close(): Promise<void>;
}

/** Starts an empty registry, which forwards requests for other packages. */
export async function startRegistry(upstream: string): Promise<Registry> {
  const verdaccio = await installPackage(VERDACCIO);
  const folder = await mkdtemp(join(tmpdir(), 'paylink-registry-'));
  const port = await freePort();
  const url = `http://127.0.0.1:${port}/`;
  const config = {
    storage: join(folder, 'storage'),
    uplinks: { usual: { url: upstream } },
    packages: {
      '@paylink/*': { access: '$all', publish: '$all' },
      '**': { access: '$all', proxy: 'usual' },
    },
    log: { type: 'stdout', level: 'warn' },
  };
  // JSON is valid YAML.
  await writeFile(join(folder, 'config.yaml'), JSON.stringify(config));
  const npmrc = join(folder, 'npmrc');
  await writeFile(npmrc, `registry=${url}\n//127.0.0.1:${port}/:_authToken=anybody\n`);
  const args = [join(verdaccio, 'bin', 'verdaccio'), '-c', 'config.yaml', '-l', `${port}`];
  const server = spawn(process.execPath, args, {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await untilReady('verdaccio', server, server.stdout, /http address/);
  return {
    folder,
    url,
    npmrc,
    async close() {
      server.kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
