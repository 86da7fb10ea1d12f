/** The files that `paylink init` writes. init.built.test.ts runs them. */
import { execFileSync } from 'node:child_process';
import {
  existsSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { FRAMEWORKS } from '../src/init/hosts.js';
import { newFolder, paylink } from './paylink.js';

/** A project in TypeScript: the bundle of these tests has no templates in JavaScript. */
function project(files: Readonly<Record<string, string>> = {}): string {
  const folder = newFolder();
  const manifest = '{ "dependencies": { "koa": "3" }, "scripts": { "start": "node ." } }\n';
  const all = { 'package.json': manifest, 'tsconfig.json': '{}', ...files };
  for (const [path, content] of Object.entries(all)) writeFileSync(join(folder, path), content);
  return folder;
}

const init = (cwd: string, ...args: string[]) => paylink(['init', ...args], { cwd });
const textOf = (...path: string[]): string => readFileSync(join(...path), 'utf8');

describe('paylink init', () => {
  it('adds missing lines, prints no secret, and changes nothing on a second run', async () => {
    const env = 'WEBHOOK_SECRET=mine-and-kept-0123456789\nSHOP_URL=\n# a comment';
    const folder = project({ '.env': env, '.gitignore': 'dist\n' });
    const { stdout } = await init(folder);
    const written = textOf(folder, '.env');
    expect(written.startsWith(`${env}\nPAYLINK_API_KEY=sk_live_`)).toBe(true);
    expect(written).toContain('PAYLINK_BASE_URL=');
    expect(written).toContain('SHOP_URL=http://localhost:3000\n');
    expect(statSync(join(folder, '.env')).mode & 0o777).toBe(0o600);
    expect(stdout).not.toContain('sk_live_');
    expect(textOf(folder, '.gitignore')).toBe('dist\n.env\n');
    expect(JSON.parse(textOf(folder, 'package.json'))).toMatchObject({
      scripts: {
        start: 'node .',
        payments: expect.stringContaining('paylink emulate --dotenv .env') as string,
      },
    });
    expect((await init(folder)).stdout).toContain('Nothing to write.');
    expect(textOf(folder, '.env')).toBe(written);
  });

  it('writes for each host a webhook with its secret and credit, and a checkout with one link', async () => {
    for (const framework of FRAMEWORKS) {
      const folder = project();
      await init(folder, '--framework', framework);
      const lib = framework.startsWith('next') ? 'lib' : '';
      const webhook = textOf(folder, lib, 'payment-webhook.ts');
      expect(webhook).toMatch(/process\.env\['WEBHOOK_SECRET'\][^]*payments\.receive/);
      const checkout = textOf(folder, lib, 'checkout.ts');
      expect(checkout).toMatch(/single_use: true[^]*idempotencyKey: reference/);
      expect(textOf(folder, '.env')).toMatch(/^WEBHOOK_SECRET=[0-9a-f]{64}$/m);
    }
  });

  it.each([
    ['payments.ts leads to a file', 'payments.ts', 'file.ts'],
    ['.env leads to a file', '.env', 'secrets'],
    ['payments.ts leads nowhere', 'payments.ts', 'nowhere'],
  ])('writes nothing through a symbolic link out of the folder if %s', async (_, path, target) => {
    const outside = newFolder();
    if (target !== 'nowhere') writeFileSync(join(outside, target), 'KEPT=1\n');
    const folder = project();
    symlinkSync(join(outside, target), join(folder, path));
    const { code, stderr } = await init(folder);
    expect(code).toBe(2);
    expect(stderr).toContain(`${path} is a symbolic link out of this folder`);
    expect(existsSync(join(folder, 'checkout.ts'))).toBe(false);
    if (target !== 'nowhere') expect(textOf(outside, target)).toBe('KEPT=1\n');
  });

  it('writes no secret through a symbolic link to a tracked file', { tags: 'O21' }, async () => {
    const folder = project({ '.env.example': 'KEPT=1\n' });
    symlinkSync('.env.example', join(folder, '.env'));
    const { code, stderr } = await init(folder);
    expect(code).toBe(2);
    expect(stderr).toContain('.env is a symbolic link, perhaps to a file that git keeps');
    expect(textOf(folder, '.env.example')).toBe('KEPT=1\n');
  });

  it('writes nothing into a folder that is a symbolic link', { tags: 'O21' }, async () => {
    const outside = newFolder();
    const folder = project();
    symlinkSync(outside, join(folder, 'src'));
    expect((await init(folder)).code).toBe(2);
    expect(readdirSync(outside)).toEqual([]);
  });

  it('overwrites an existing file only with --force', async () => {
    const folder = project({ 'payment-webhook.ts': '// mine\n' });
    const { code, stderr } = await init(folder);
    expect(code).toBe(2);
    expect(stderr).toMatch(
      /nothing was written: payment-webhook\.ts would be overwritten\n.*--force/,
    );
    expect(existsSync(join(folder, 'checkout.ts'))).toBe(false);
    expect(textOf(folder, 'payment-webhook.ts')).toBe('// mine\n');
    expect((await init(folder, '--force')).code).toBe(0);
    expect(textOf(folder, 'payment-webhook.ts')).toContain('@paylink/koa');
  });

  it.each(['.env\n!.env*\n', '.env*\n!/.e?v\n'])(
    'adds .env to a .gitignore that takes it back: %j',
    { tags: 'R08' },
    async (lines) => {
      const folder = project({ '.gitignore': lines });
      await init(folder);
      await init(folder);
      expect(textOf(folder, '.gitignore')).toBe(`${lines}.env\n`);
      execFileSync('git', ['init', '-q'], { cwd: folder });
      execFileSync('git', ['check-ignore', '-q', '.env'], { cwd: folder });
    },
  );

  it('runs no program that the configuration of a repository names', async () => {
    const folder = project();
    const git = (...args: string[]) => execFileSync('git', args, { cwd: folder });
    git('init', '-q');
    git('add', 'package.json');
    git('config', 'core.fsmonitor', 'touch ran #');
    expect((await init(folder)).code).toBe(0);
    expect(existsSync(join(folder, 'ran'))).toBe(false);
    git('status');
    expect(existsSync(join(folder, 'ran'))).toBe(true);
  });
});
