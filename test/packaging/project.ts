import { execFileSync } from 'node:child_process';
import {
  copyFileSync,
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { tarballs } from './packed.js';

/** The compiler of a project. test/types/matrix.built.test.ts has older ones. */
export const TYPESCRIPT = { '@types/node': '^20.19.0', typescript: '~7.0.2' };

/** A project outside the workspace, like a merchant's. */
export interface Project {
  readonly folder: string;
  /** Runs a command and returns its stdout. @throws Error with all output unless it exits with 0 */
  run(command: string, ...args: string[]): string;
  /** Returns a manifest or other JSON, by its path in the project. */
  json(path: string): unknown;
  /**
   * Compiles its .mts files, once unchanged and once as .cts. @throws Error with the compiler's
   * output
   */
  compile(moduleResolution: 'node16' | 'bundler'): void;
  remove(): void;
}

/**
 * Creates a project from a folder of `consumer`, and installs Paylink's tarballs and other packages
 * with npm.
 *
 * @param ours the names of the packages
 * @param others ranges by name
 */
export function installProject(
  name: string,
  ours: readonly string[],
  others: Record<string, string>,
): Project {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), `paylink-${name}-`)));
  cpSync(fileURLToPath(new URL(`consumer/${name}`, import.meta.url)), folder, { recursive: true });
  cpSync(fileURLToPath(new URL('consumer/doors.mjs', import.meta.url)), join(folder, 'doors.mjs'));
  const project: Project = {
    folder,
    run(command, ...args) {
      try {
        return execFileSync(command, args, {
          cwd: folder,
          stdio: ['ignore', 'pipe', 'pipe'],
          env: { ...process.env, NODE_ENV: 'test' },
          timeout: 120_000,
        }).toString();
      } catch (error) {
        // tsc reports on stdout.
        const { stdout, stderr } = error as { stdout: Buffer; stderr: Buffer };
        throw new Error(`${command} ${args.join(' ')}\n${stdout.toString()}${stderr.toString()}`);
      }
    },
    json: (path) => JSON.parse(readFileSync(join(folder, path), 'utf8')) as unknown,
    compile(moduleResolution) {
      for (const file of readdirSync(folder).filter((name) => name.endsWith('.mts'))) {
        copyFileSync(join(folder, file), join(folder, file.replace(/mts$/, 'cts')));
      }
      const module = moduleResolution === 'bundler' ? 'esnext' : moduleResolution;
      const options = ['--module', module, '--moduleResolution', moduleResolution];
      project.run('node', 'node_modules/typescript/bin/tsc', '-p', '.', ...options);
    },
    remove() {
      rmSync(folder, { recursive: true, force: true });
    },
  };
  const packed = tarballs();
  const dependencies = {
    ...Object.fromEntries(ours.map((own) => [own, `file:${packed[own]!}`])),
    ...others,
  };
  writeFileSync(
    join(folder, 'package.json'),
    JSON.stringify({ name, private: true, dependencies }),
  );
  project.run('npm', 'install', '--no-audit', '--no-fund', '--prefer-offline', '--ignore-scripts');
  return project;
}
