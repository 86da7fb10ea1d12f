import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { API_KEY, newFolder, paylink, SECRET } from './paylink.js';
import { openShop, serve } from './servers.js';

const OTHER = 'another-secret-of-a-portal';

/** A project folder with its own .env, an emulator's kept secrets, or both. */
function folderWith({
  dotenv,
  kept,
}: {
  readonly dotenv?: string;
  readonly kept?: string;
}): string {
  const folder = newFolder();
  if (dotenv !== undefined) writeFileSync(join(folder, '.env'), dotenv);
  if (kept !== undefined) {
    mkdirSync(join(folder, '.paylink'));
    writeFileSync(join(folder, '.paylink', 'secrets.env'), kept);
  }
  return folder;
}

const trigger = (url: string): string[] => ['trigger', '--to', url, '--reference', 'order-42'];

describe('the settings of the commands', () => {
  it.each([
    [
      '.env before the emulator’s secrets.env',
      { dotenv: `WEBHOOK_SECRET=${SECRET}\n`, kept: `WEBHOOK_SECRET=${OTHER}\n` },
      {},
    ],
    [
      '.env instead of an empty variable',
      { dotenv: `WEBHOOK_SECRET=${SECRET}\n` },
      { WEBHOOK_SECRET: '' },
    ],
    [
      'the environment before .env',
      { dotenv: `WEBHOOK_SECRET=${OTHER}\n` },
      { WEBHOOK_SECRET: SECRET },
    ],
  ])('are read for the webhook secret from %s', async (_, files, env) => {
    const shop = await openShop();
    const result = await paylink(trigger(shop.url), { cwd: folderWith(files), env });
    expect(result).toMatchObject({ code: 0, stderr: '' });
  });

  it('are read for doctor and audit from the emulator’s secrets.env', async () => {
    const shop = await openShop();
    const cwd = folderWith({ kept: `WEBHOOK_SECRET=${SECRET}\n` });
    expect(await paylink(['doctor', '--to', shop.url], { cwd })).toMatchObject({
      code: 0,
      stderr: '',
    });
    // A server that refuses everything ends the audit at its first request, which needs a secret.
    const closed = await serve((_req, res) => res.writeHead(401).end());
    expect((await paylink(['audit', '--to', closed], { cwd })).stdout).toMatch(/^stopped/m);
  });

  it('take only known variables from .env, and from --dotenv instead if it is given', async () => {
    const shop = await openShop();
    const cwd = folderWith({ dotenv: `WEBHOOK_SECRET=${SECRET}\nFORCE_COLOR=1\n` });
    writeFileSync(join(cwd, 'test.env'), `WEBHOOK_SECRET=${OTHER}\n`);
    const { code, stdout } = await paylink(trigger(shop.url), { cwd });
    expect([code, stdout]).toEqual([0, expect.not.stringContaining('\u001b')]);
    expect((await paylink([...trigger(shop.url), '--dotenv', 'test.env'], { cwd })).code).toBe(1);
  });

  it.each([
    ['a pipe', (path: string) => execFileSync('mkfifo', [path]), 'it is a pipe, and not a file'],
    ['a link to a device', (path: string) => symlinkSync('/dev/zero', path), 'it is a device'],
    ['a folder', (path: string) => mkdirSync(path), 'it is a folder'],
    [
      'UTF-16, as of PowerShell',
      (path: string) => writeFileSync(path, `\ufeffWEBHOOK_SECRET=${SECRET}\r\n`, 'utf16le'),
      'it is UTF-16, as PowerShell writes it: save it as UTF-8',
    ],
    [
      'not UTF-8',
      (path: string) => writeFileSync(path, Buffer.from('A=\xff\xe9', 'latin1')),
      'it is not UTF-8 text',
    ],
    [
      'UTF-8 with a byte order mark',
      (path: string) => writeFileSync(path, `\ufeffWEBHOOK_SECRET=${SECRET}\n`),
      'it begins with a byte order mark: save it as UTF-8 without BOM',
    ],
  ])('refuse a .env that is %s, by a sentence', { tags: 'R08' }, async (_, make, sentence) => {
    const cwd = newFolder();
    make(join(cwd, '.env'));
    for (const more of [[], ['--dotenv', '.env']]) {
      const { code, stderr } = await paylink([...trigger('http://127.0.0.1:9/'), ...more], { cwd });
      expect(code).toBe(2);
      expect(stderr).toContain(sentence);
    }
  });

  it('let the emulator’s API key go only to services on this machine', async () => {
    const keys: unknown[] = [];
    const origin = await serve((req, res) => {
      keys.push(req.headers.authorization);
      res.writeHead(404).end();
    });
    const cwd = folderWith({ kept: `PAYLINK_API_KEY=${API_KEY}\n` });
    await paylink(['payments', 'get', 'order-42', '--base-url', `${origin}/api`], { cwd });
    expect(keys).toEqual([`Bearer ${API_KEY}`]);
    const away = await paylink(
      ['payments', 'get', 'order-42', '--base-url', 'https://pay.example/api'],
      { cwd },
    );
    expect(away).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('no API key') as string,
    });
  });

  it('send no API key of another source to an address that only .env names', async () => {
    const get = ['payments', 'get', 'order-42'];
    const address = 'PAYLINK_BASE_URL=https://0.0.0.0:1/api';
    const strange = folderWith({ dotenv: `${address}\n` });
    for (const [source, result] of [
      ['PAYLINK_API_KEY', await paylink(get, { cwd: strange, env: { PAYLINK_API_KEY: API_KEY } })],
      ['--api-key', await paylink([...get, '--api-key', API_KEY], { cwd: strange })],
    ] as const) {
      expect(result.code).toBe(2);
      expect(result.stderr).toContain(
        `the key from ${source} would go to https://0.0.0.0:1/api, which comes only from this folder's .env`,
      );
      expect(result.stderr).not.toContain(API_KEY);
    }
    // Both come from one file, or the user named the address: the command asks it, and nothing
    // listens there.
    const own = folderWith({ dotenv: `${address}\nPAYLINK_API_KEY=${API_KEY}\n` });
    const env = { PAYLINK_API_KEY: API_KEY };
    for (const asked of [
      await paylink(get, { cwd: own }),
      await paylink([...get, '--dotenv', '.env'], { cwd: strange, env }),
      await paylink([...get, '--base-url', 'https://0.0.0.0:1/api'], { cwd: strange, env }),
    ]) {
      expect(asked).toMatchObject({
        code: 1,
        stderr: expect.not.stringContaining('would go to') as string,
      });
    }
    // An emulator counts as trusted.
    const here = folderWith({ dotenv: 'PAYLINK_BASE_URL=http://127.0.0.1:9/api\n' });
    expect((await paylink(get, { cwd: here, env })).stderr).not.toContain('would go to');
  });
});
