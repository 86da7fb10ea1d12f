/** Secrets that git would keep: `init` and `listen` say so, with the command that ends it. */
import { execFileSync, execSync } from 'node:child_process';
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { newFolder, paylink, start, withRecipes, words } from './paylink.js';

withRecipes();

function newRepository(): string {
  const folder = newFolder();
  execFileSync('git', ['init', '-q'], { cwd: folder });
  return folder;
}

it('init names the command that ends the tracking of .env, and only if git tracks it', async () => {
  const cwd = newRepository();
  writeFileSync(join(cwd, 'package.json'), '{"dependencies":{"express":"^5.0.0"}}');
  const untracked = await paylink(['init'], { cwd });
  expect(untracked.stdout).not.toContain('git rm');
  execSync('git add -f .env', { cwd });
  const tracked = await paylink(words`init --force`, { cwd });
  const [, command = ''] = /^ {2}(git rm .*)$/m.exec(tracked.stdout) ?? [];
  expect(command).toContain('.env');
  execSync(command, { cwd });
  expect((await paylink(words`init --force`, { cwd })).stdout).not.toContain('git rm');
});

it('listen warns of a folder that git does not ignore, until the printed command ran', async () => {
  const cwd = newRepository();
  const listen = async (): Promise<string> => {
    const running = start(words`listen --forward-to http://127.0.0.1:9 --port 0`, {}, cwd);
    await running.until(/Ctrl-C stops it\.\n/);
    running.child.kill('SIGINT');
    return (await running.result()).stderr;
  };
  expect(await listen()).toBe('');
  mkdirSync(join(cwd, '.paylink/deliveries'), { recursive: true });
  writeFileSync(join(cwd, '.paylink/deliveries/.gitignore'), '');
  appendFileSync(join(cwd, '.paylink/deliveries/kept.body'), '{}');
  execSync('git add .paylink', { cwd });
  const warning = await listen();
  expect(warning).toMatch(
    /^git does not ignore \.paylink\/deliveries, which holds secrets: git rm/,
  );
  execSync(warning.slice(warning.indexOf(': ') + 2), { cwd });
  expect(await listen()).toBe('');
});
