import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** A project outside of the workspace, as a merchant's is. */
export interface Project {
  readonly folder: string;
  /** Runs a command in it and gives its stdout. @throws Error with all that it said, when it does not end with 0. */
  run(command: string, ...args: string[]): string;
  /** A manifest, or any other JSON, by its path in the project. */
  json<T>(path: string): T;
  /** Whether its own files are ES modules. */
  setType(type: 'module' | 'commonjs'): void;
  remove(): void;
}

/**
 * Makes a project of a folder of `consumer`, and installs what it depends on by npm.
 *
 * @param dependencies by name, each with a range or a `file:` of a tarball
 */
export function installProject(name: string, dependencies: Record<string, string>): Project {
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
        // tsc says what it found on stdout.
        const { stdout, stderr } = error as { stdout: Buffer; stderr: Buffer };
        throw new Error(`${command} ${args.join(' ')}\n${stdout.toString()}${stderr.toString()}`);
      }
    },
    json: <T>(path: string) => JSON.parse(readFileSync(join(folder, path), 'utf8')) as T,
    setType(type) {
      writeFileSync(join(folder, 'package.json'), JSON.stringify({ ...project.json<object>('package.json'), type }));
    },
    remove() {
      rmSync(folder, { recursive: true, force: true });
    },
  };
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name, private: true, dependencies }));
  project.run('npm', 'install', '--no-audit', '--no-fund', '--prefer-offline', '--ignore-scripts');
  return project;
}
