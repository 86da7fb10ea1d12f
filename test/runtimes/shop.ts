import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { tarballs } from '../packaging/packed.js';

export const SECRET = 'a-secret-of-the-portal';

/** A project outside the workspace with the packed tarballs and the server scripts. */
export class Shop {
  readonly folder = mkdtempSync(join(tmpdir(), 'paylink-runtimes-'));

  install(): void {
    cpSync(fileURLToPath(new URL('servers', import.meta.url)), this.folder, { recursive: true });
    const packed = tarballs();
    const installed = ['core', 'node', 'fetch', 'express', 'payments'].map(
      (name) => `@paylink/${name}`,
    );
    const dependencies = {
      ...Object.fromEntries(installed.map((name) => [name, `file:${packed[name]!}`])),
      express: '^5.3.0',
    };
    writeFileSync(
      join(this.folder, 'package.json'),
      JSON.stringify({ name: 'shop', private: true, dependencies }),
    );
    execFileSync(
      'npm',
      ['install', '--no-audit', '--no-fund', '--prefer-offline', '--ignore-scripts'],
      {
        cwd: this.folder,
        stdio: ['ignore', 'ignore', 'pipe'],
      },
    );
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }

  /**
   * Bundles the Worker as Cloudflare's tools do, and writes workerd's configuration. Returns its
   * path.
   */
  async workerConfig(flags: readonly string[]): Promise<string> {
    const name = ['worker', ...flags].join('-');
    await build({
      entryPoints: ['worker.mjs'],
      outfile: `${name}.js`,
      absWorkingDir: this.folder,
      bundle: true,
      format: 'esm',
      platform: 'neutral',
      conditions: ['workerd', 'worker', 'browser'],
    });
    const config = join(this.folder, `${name}.capnp`);
    writeFileSync(config, capnp(`${name}.js`, flags));
    return config;
  }
}

function capnp(bundle: string, flags: readonly string[]): string {
  return `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "shop", worker = (
    modules = [(name = "worker", esModule = embed "${bundle}")],
    compatibilityDate = "2026-07-01",
    compatibilityFlags = ${JSON.stringify(flags)},
    bindings = [(name = "SECRET", text = "${SECRET}")],
  ))],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "shop")],
);
`;
}
