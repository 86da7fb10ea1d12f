/** Uses the commands at a terminal, in pipes, and with signals. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { COMMAND, paylink, SECRET, start, words } from './paylink.js';
import { openShop, serve, signatureOf } from './servers.js';
import { inTerminal } from './terminal.js';

const env = { WEBHOOK_SECRET: SECRET };
const [GREEN, RED] = ['\u001b[32m', '\u001b[31m'];

it('doctor prints passed and failed checks in colour at a terminal', async () => {
  const shop = await openShop();
  const healthy = await inTerminal(['doctor', '--to', shop.url], env, []);
  expect(healthy.code).toBe(0);
  expect(healthy.output).toContain(`${GREEN}ok`);
  expect(healthy.output).not.toContain(RED);
  const nothing = await serve((_req, res) => res.writeHead(404).end());
  const gone = await paylink(['doctor', '--to', nothing], { env: { ...env, FORCE_COLOR: '1' } });
  expect(gone.code).toBe(1);
  expect(gone.stdout).toContain(`${RED}FAILED`);
});

it('diagnose says that it waits for the body of a person, and uses no colour with NO_COLOR', async () => {
  const { code, output } = await inTerminal(
    words`diagnose --signature ${signatureOf('{}\n')}`,
    { ...env, NO_COLOR: '1' },
    [{ after: /--body: type the bytes, then press Ctrl-D/, send: '{}\n\u0004' }],
  );
  expect(code).toBe(0);
  expect(output).toContain('matches');
  expect(output).not.toContain('\u001b');
});

it('commands exit silently and with their code if the reader closes the pipe', async () => {
  const refusing = await serve((_req, res) => res.writeHead(500).end());
  const trigger = `trigger --to ${refusing} --reference a --times 20`;
  for (const args of [`${trigger}; test $? = 1 || echo "exit code" >&2`, 'audit --help']) {
    const line = `{ "${process.execPath}" "${COMMAND}" ${args}; } | head -n 1`;
    const { stdout, stderr } = await promisify(execFile)('sh', ['-c', line], {
      env: { PATH: process.env['PATH'], ...env } as never,
    });
    expect(stdout.trim().split('\n')).toHaveLength(1);
    expect(stderr).toBe('');
  }
});

it.each(['SIGINT', 'SIGTERM'] as const)('emulate exits with 0 at %s', async (signal) => {
  const running = start(words`emulate --port 0`, env);
  await running.until(/Ctrl-C stops it/);
  expect(await running.stop(signal)).toMatchObject({ code: 0, stderr: '' });
});

it.runIf(existsSync('/dev/full'))(
  'reports to a full disk end with 1, and throw nothing',
  async () => {
    const shop = await openShop();
    for (const line of ['--help', `trigger --to ${shop.url} --reference a`]) {
      const full = openSync('/dev/full', 'w');
      const child = spawn(process.execPath, [COMMAND, ...line.split(' ')], {
        env: { PATH: process.env['PATH'], ...env } as never,
        stdio: ['ignore', full, 'pipe'],
      });
      closeSync(full);
      const exit = once(child, 'exit') as Promise<[number]>;
      const [stderr, [code]] = await Promise.all([text(child.stderr!), exit]);
      expect({ line, code, stderr }).toEqual({ line, code: 1, stderr: '' });
    }
  },
);
