/** Uses the commands at a terminal, in pipes, and with signals. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { signedDelivery } from '@paylink/testing';
import { describe, expect, it } from 'vitest';
import { API_KEY, COMMAND, newFolder, SECRET, start } from './paylink.js';
import { openShop, serve } from './servers.js';
import { CTRL_C, inTerminal } from './terminal.js';

const env = { WEBHOOK_SECRET: SECRET };
const [GREEN, RED] = ['\u001b[32m', '\u001b[31m'];

describe('at a terminal', () => {
  it('doctor prints passed and failed checks in colour', async () => {
    const shop = await openShop();
    const healthy = await inTerminal(['doctor', '--to', shop.url], env, []);
    expect(healthy.code).toBe(0);
    expect(healthy.output).toContain(`${GREEN}ok`);
    expect(healthy.output).not.toContain(RED);
    const gone = await inTerminal(
      ['doctor', '--to', await serve((_req, res) => res.writeHead(404).end())],
      env,
      [],
    );
    expect(gone.code).toBe(1);
    expect(gone.output).toContain(`${RED}FAILED`);
    expect(
      (await inTerminal(['doctor', '--to', shop.url], { ...env, NO_COLOR: '1' }, [])).output,
    ).not.toContain('\u001b');
  });

  it('emulate logs pay, fail and cancel of another terminal, explains a 401, and exits at Ctrl-C', async () => {
    const shop = await openShop();
    const cwd = newFolder();
    const settled: string[] = [];
    const act = async (port: string): Promise<void> => {
      const baseUrl = `http://127.0.0.1:${port}/api`;
      for (const verb of ['pay', 'fail', 'cancel']) {
        const headers = { 'x-api-key': API_KEY, 'content-type': 'application/json' };
        const body = JSON.stringify({ amount: 1, reference: `${verb}-1`, description: 'A basket' });
        expect(
          (await fetch(`${baseUrl}/v1/payment-links`, { method: 'POST', headers, body })).status,
        ).toBe(201);
        const told = await inTerminal(
          [verb, `${verb}-1`, '--base-url', baseUrl],
          { PAYLINK_API_KEY: API_KEY },
          [],
        );
        expect(told.code).toBe(0);
        settled.push(told.output);
      }
    };
    const { code, output } = await inTerminal(
      ['emulate', '--port', '0', '--webhook', shop.url],
      { WEBHOOK_SECRET: 'another-secret-of-a-portal', PAYLINK_API_KEY: API_KEY },
      [
        {
          after: /127\.0\.0\.1:(\d+)\/api[^]*Ctrl-C stops it/,
          meanwhile: ([, port]) => act(port!),
          send: '',
        },
        { after: /pay-1 → \S*401[^]*paylink diagnose/, send: CTRL_C },
      ],
      cwd,
    );
    expect(settled).toEqual(
      ['pay-1: .*success', 'fail-1: .*failed', 'cancel-1: .*cancelled'].map(
        (line) => expect.stringMatching(line) as string,
      ),
    );
    expect(output).toMatch(/POST \/api\/v1\/payment-links pay-1 → \S*201/);
    expect(code).toBe(0);
  });

  it('listen prints each delivery, explains a mismatched signature, and exits at Ctrl-C', async () => {
    const shop = await openShop();
    const send = async (port: string): Promise<void> => {
      const url = `http://127.0.0.1:${port}/`;
      expect(
        (await signedDelivery({ secret: SECRET, reference: 'order-42' }).send(url)).status,
      ).toBe(200);
      expect(
        (await signedDelivery({ secret: 'another-secret-of-a-portal' }).send(url)).status,
      ).toBe(401);
    };
    const { code, output } = await inTerminal(
      ['listen', '--port', '0', '--forward-to', shop.url],
      env,
      [
        {
          after: /127\.0\.0\.1:(\d+)[^]*Ctrl-C stops it/,
          meanwhile: ([, port]) => send(port!),
          send: '',
        },
        { after: /signature:.*\r?\n/, send: CTRL_C },
      ],
      newFolder(),
    );
    expect(output).toContain(`${GREEN}200`);
    expect(output).toContain(`${RED}401`);
    expect(shop.credited).toEqual(['order-42']);
    expect(code).toBe(0);
  });
});

describe('in a pipe or after a signal', () => {
  it('trigger and --help exit silently if the reader closes the pipe', async () => {
    const shop = await openShop();
    const lines = [
      `"${process.execPath}" "${COMMAND}" trigger --to ${shop.url} --reference a --times 20 | head -n 1`,
    ];
    lines.push(`"${process.execPath}" "${COMMAND}" audit --help | head -n 1`);
    for (const line of lines) {
      const { stdout, stderr } = await promisify(execFile)('sh', ['-c', line], {
        env: { PATH: process.env['PATH'], ...env } as never,
      });
      expect(stdout.trim().split('\n')).toHaveLength(1);
      expect(stderr).toBe('');
    }
  });

  it.each(['SIGINT', 'SIGTERM'] as const)(
    'emulate and listen exit with 0 at %s',
    async (signal) => {
      const shop = await openShop();
      for (const args of [['emulate'], ['listen', '--forward-to', shop.url]]) {
        const running = start([...args, '--port', '0'], env);
        await running.until(/Ctrl-C stops it/);
        running.child.kill(signal);
        expect(await running.result()).toMatchObject({ code: 0, stderr: '' });
      }
    },
  );
});
