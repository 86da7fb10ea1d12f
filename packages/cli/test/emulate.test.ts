import { execFile, execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createClient } from '@paylink/client';
import { startEmulator } from '@paylink/emulator';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { logAttempt } from '../src/emulate/log.js';
import { Output } from '../src/terminal/output.js';
import {
  API_KEY,
  newFolder,
  paylink,
  SECRET,
  start,
  startHere,
  words,
  type Running,
} from './paylink.js';
import { openShop, serve, serveSelfSigned } from './servers.js';

const READY = /Ctrl-C stops it\.\n/;

function variable(output: string, name: string): string {
  return new RegExp(`^${name}=(.*)$`, 'm').exec(output)?.[1] ?? '';
}

/** Runs the printed command that begins with the given words, in the same folder. */
async function runPrinted(
  running: Running,
  words: string,
  env: Readonly<Record<string, string>> = {},
): Promise<Record<string, unknown>> {
  const line = new RegExp(`^npx --no-install paylink (${words} .*)$`, 'm').exec(running.stdout());
  const split = await promisify(execFile)('sh', ['-c', `printf '%s\\0' ${line![1]!}`]);
  const args = [...split.stdout.split('\0').slice(0, -1), '--json'];
  const { code, stdout, stderr } = await paylink(args, { cwd: running.cwd, env });
  if (code !== 0) throw new Error(stderr);
  return JSON.parse(stdout) as Record<string, unknown>;
}

/** Creates a link and pays it, as `links create` and `pay` do. */
async function pay(baseUrl: string, apiKey: string, reference = 'order-42'): Promise<void> {
  await createClient({ baseUrl, apiKey }).createPaymentLink({ amount: 1, reference });
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
  const body = JSON.stringify({ reference });
  const url = new URL('/control/pay', baseUrl);
  expect((await fetch(url, { method: 'POST', headers, body })).status).toBe(200);
}

const payAt = (running: Running): Promise<void> =>
  pay(
    variable(running.stdout(), 'PAYLINK_BASE_URL'),
    variable(running.stdout(), 'PAYLINK_API_KEY'),
  );

/** Starts an emulator on any port in this process, and waits until it runs. */
async function emulate(
  args: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
  cwd = newFolder(),
): Promise<Running> {
  const running = await startHere(['emulate', '--port', '0', ...args], { env, cwd });
  await running.until(READY);
  return running;
}

async function stop(running: Running, signal: 'SIGINT' | 'SIGTERM' = 'SIGINT'): Promise<void> {
  expect(await running.stop(signal)).toMatchObject({ code: 0, stderr: '' });
}

/** Stops the command, and serves at its address, because only one command runs in this process. */
async function replace(running: Running): Promise<void> {
  await stop(running);
  const { port } = new URL(variable(running.stdout(), 'PAYLINK_BASE_URL'));
  const emulator = await startEmulator({ port: Number(port), apiKey: API_KEY });
  onTestFinished(() => emulator.close());
}

describe('paylink emulate', () => {
  it('prints .env lines, a dashboard URL and commands that work in a shell', async () => {
    const running = start(['emulate', '--port', '0']);
    await running.until(READY);
    const output = running.stdout();
    // The same key returns the same link for a second paste.
    for (let time = 0; time < 2; time++) {
      const created = await runPrinted(running, 'links create');
      expect(created).toMatchObject({ status: 'pending', reference: 'order-42' });
    }
    expect(await runPrinted(running, 'pay')).toMatchObject({ status: 'success', amount: 15_000 });

    const pasted = /For your \.env:\n([^]*?)\n\n/.exec(output)![1]!;
    writeFileSync(join(running.cwd, '.env'), pasted);
    const script = 'set -a; . ./.env; echo "$PAYLINK_BASE_URL $PAYLINK_API_KEY $WEBHOOK_SECRET"';
    const sourced = await promisify(execFile)('sh', ['-ec', script], { cwd: running.cwd });
    const [baseUrl = '', apiKey = '', secret] = sourced.stdout.trim().split(' ');
    expect(sourced.stderr).toBe('');
    expect(secret).toMatch(/^[0-9a-f]{64}$/);
    const headers = { 'x-api-key': apiKey };
    expect((await fetch(`${baseUrl}/v1/payments/order-42`, { headers })).status).toBe(200);
    expect(await paylink(['payments', 'get', 'order-42'], { cwd: running.cwd })).toMatchObject({
      code: 0,
    });
    const dashboard = /Dashboard +(\S+)/.exec(output)?.[1];
    expect((await fetch(dashboard!)).status).toBe(200);
    await stop(running);
  });

  it('logs each notification and its answer on one line', async () => {
    const shop = await openShop();
    const running = await emulate(words`--webhook ${shop.url} --secret ${SECRET}`);
    expect(running.stdout()).not.toContain('WEBHOOK_SECRET=');
    await payAt(running);
    await running.until(/\n\d\d:\d\d:\d\d {2}payment\.succeeded order-42 → 200 in \d+ ms\n/);
    expect(shop.credited).toEqual(['order-42']);
    await stop(running);
  });

  it('does not log a signature that the server sends back in a header', async () => {
    const url = await serve(({ headers }, res) =>
      res.writeHead(401, { server: `a ${String(headers['x-service-signature'])}` }).end(),
    );
    const running = await emulate(words`--webhook ${url} --secret ${SECRET}`);
    await payAt(running);
    await running.until(/server: a \[hidden\]/);
    await stop(running);
  });

  it.each([
    [401, '', /Compare the secrets on both sides, and verify the raw bytes/],
    [503, '{"error":"confirm_unavailable"}', /The webhook could not ask the service/],
  ])(
    'prints advice under a %i with the body %j, once per delivery',
    async (status, body, advice) => {
      const url = await serve((_req, res) => res.writeHead(status).end(body));
      const target = url.replace('127.0.0.1', 'shop.localhost');
      const running = await emulate(words`--webhook ${target} --assume firstRetryDelay=20`);
      await payAt(running);
      await running.until(new RegExp(`order-42 \\(2\\) → ${status}`));
      const code = body === '' ? '' : '\\(confirm_unavailable\\) ';
      const line = `order-42 → ${status} ${code}in .*\\n {10}.*${advice.source}`;
      expect(running.stdout()).toMatch(new RegExp(line));
      expect(running.stdout().match(new RegExp(advice.source, 'g'))).toHaveLength(1);
      await stop(running);
    },
  );

  it('logs each attempt as JSON until the server recovers', async () => {
    let status = 500;
    const first = [500, 307];
    const url = await serve((_req, res) =>
      res.writeHead(first.shift() ?? status).end('\u001b[31m'),
    );
    const args = words`--port 0 --webhook ${url} --assume firstRetryDelay=20 --json`;
    const running = await startHere(['emulate', ...args], { env: { WEBHOOK_SECRET: SECRET } });
    const started = JSON.parse((await running.until(/^.*\n/))[0]) as Record<string, string>;
    expect(started).toMatchObject({ type: 'started' });
    expect(started).not.toHaveProperty('webhookSecret');
    const { baseUrl = '', apiKey = '' } = started;
    await pay(baseUrl, apiKey, 'order-\u001b[1m7');
    await running.until(/"number":2,"status":307/);
    status = 200;
    await running.until(/"acknowledged":true/);
    await stop(running, 'SIGTERM');
    const records = running
      .stdout()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    const attempts = records.filter(({ type }) => type === 'delivery');
    expect(attempts.map(({ number }) => number)).toEqual(attempts.map((_, index) => index + 1));
    const order = { reference: 'order-\u001b[1m7', event: 'payment.succeeded' };
    expect(attempts.slice(0, 2)).toMatchObject([
      { ...order, status: 500, acknowledged: false },
      { ...order, status: 307, acknowledged: false },
    ]);
    expect(attempts.at(-1)).toMatchObject({ status: 200, acknowledged: true });
    expect(records.at(-1)).toEqual({ type: 'stopped' });
    expect(running.stdout()).not.toContain('\u001b');
  });

  it('neither prints nor stores a given secret or key, and its commands read the key from the environment', async () => {
    const env = { WEBHOOK_SECRET: SECRET, PAYLINK_API_KEY: API_KEY };
    const running = await emulate([], env);
    expect(running.stdout()).not.toMatch(/^(WEBHOOK_SECRET|PAYLINK_API_KEY)=/m);
    await replace(running);
    await runPrinted(running, 'links create', env);
    await runPrinted(running, 'pay', env);
    expect(existsSync(join(running.cwd, '.paylink'))).toBe(false);
  });

  it.each([
    ['.env', `export PAYLINK_API_KEY="${API_KEY}"\r\nOTHER=1`, []],
    ['my settings.env', `A=1\nPAYLINK_API_KEY='${API_KEY}'`, ['--dotenv', 'my settings.env']],
    ['key.txt', `${API_KEY}\n`, ['--api-key-file', 'key.txt']],
  ])('prints commands that read the key from %s', async (name, content, args) => {
    const folder = newFolder();
    writeFileSync(join(folder, name), content);
    const running = await emulate(args, {}, folder);
    await replace(running);
    await runPrinted(running, 'links create');
  });

  it('prints the time of an answer that never came once', async () => {
    const url = await serve(() => undefined);
    const running = await emulate(words`--webhook ${url} --assume deliveryTimeout=50`);
    await payAt(running);
    const [line] = await running.until(/order-42 → no answer .*\n/);
    expect(line.match(/\d+ ms/g)).toHaveLength(1);
    await stop(running);
  });

  it('names NODE_EXTRA_CA_CERTS if the certificate of the webhook is not trusted', async () => {
    const running = await emulate(words`--webhook ${await serveSelfSigned()}`);
    await payAt(running);
    await running.until(
      /order-42 → the certificate of 127\.0\.0\.1:\d+ is not trusted .*NODE_EXTRA_CA_CERTS/,
    );
    await stop(running);
  });

  it('keeps its secrets in .paylink, readable by the owner only and ignored by git', async () => {
    const folder = newFolder();
    const secrets: string[][] = [];
    for (let round = 0; round < 2; round++) {
      const running = await emulate([], {}, folder);
      secrets.push(
        ['PAYLINK_API_KEY', 'WEBHOOK_SECRET'].map((name) => variable(running.stdout(), name)),
      );
      await stop(running);
    }
    expect(secrets[1]).toEqual(secrets[0]);
    const file = join(folder, '.paylink', 'secrets.env');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(statSync(join(folder, '.paylink')).mode & 0o777).toBe(0o700);
    expect(readFileSync(join(folder, '.paylink', '.gitignore'), 'utf8')).toBe('*\n');
    expect(readFileSync(file, 'utf8')).toBe(
      `PAYLINK_API_KEY=${secrets[0]![0]}\nWEBHOOK_SECRET=${secrets[0]![1]}\n`,
    );
  });

  it('says that git tracks the folder of its secrets', async () => {
    const folder = newFolder();
    mkdirSync(join(folder, '.paylink'));
    writeFileSync(join(folder, '.paylink', 'secrets.env'), '');
    execFileSync('sh', ['-c', 'git init -q && git add -f .paylink'], { cwd: folder });
    const { stderr } = await (await emulate([], {}, folder)).stop();
    expect(stderr).toContain('git does not ignore .paylink, which contains secrets: git rm');
  });

  it('says that it cannot keep or read its secrets, and names the file', async () => {
    const folder = newFolder();
    writeFileSync(join(folder, '.paylink'), '');
    const running = await emulate([], {}, folder);
    expect(running.stdout()).not.toContain('saved in');
    expect((await running.stop()).stderr).toMatch(
      /^\.paylink cannot be written \(EEXIST\): each start creates new secrets\n$/,
    );
    rmSync(join(folder, '.paylink'));
    mkdirSync(join(folder, '.paylink', 'secrets.env'), { recursive: true });
    expect(await paylink(words`pay order-42`, { cwd: folder })).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(
        /secrets\.env cannot be read \(it is a folder, and not a file\)\n {2}delete it: the next paylink emulate/,
      ) as string,
    });
  });

  it('logs each API request, and the reason for each refusal', async () => {
    const running = await emulate([], { PAYLINK_API_KEY: API_KEY });
    const baseUrl = variable(running.stdout(), 'PAYLINK_BASE_URL');
    const create = (key: string, amount: number): Promise<Response> =>
      fetch(`${baseUrl}/v1/payment-links`, {
        method: 'POST',
        headers: { 'x-api-key': key, 'content-type': 'application/json' },
        body: JSON.stringify({ amount, reference: 'order-42', description: 'private' }),
      });
    await create('sk_live_wrong.key', 1);
    await create(API_KEY, 1);
    await create(API_KEY, 2);
    await running.until(/POST \/api\/v1\/payment-links → 401: the API key is missing or wrong\n/);
    await running.until(/POST \/api\/v1\/payment-links order-42 → 201\n/);
    await running.until(
      /POST \/api\/v1\/payment-links order-42 → 409: another payment link has this reference\n/,
    );
    expect(running.stdout()).not.toMatch(/private|sk_live_wrong/);
    await stop(running);
  });

  it('reports a port in use and names the option that changes it', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const result = await paylink(['emulate', '--port', String(port)]);
    expect(result).toMatchObject({ code: 1, stdout: '' });
    expect(result.stderr).toBe(
      `error: port ${port} is taken: is another emulator running?
  choose another port with --port, or let --port 0 pick a free port
`,
    );
  });

  it.each([
    ['--host is remote', '--host 0.0.0.0', /--host must be .* unless you add --allow-remote: /],
    [
      '--webhook is remote',
      '--webhook http://a.example',
      /must be .* unless you add --allow-host <host>$/m,
    ],
    ['--assume names an unknown switch', '--assume sorcery=1', /--assume sorcery/],
    ['--assume has a wrong value', '--assume rateLimit=5', /--assume rateLimit must be 'off' or/],
    [
      '--api-key has another form',
      '--api-key another-service',
      /--api-key must have the form sk_live_/,
    ],
    ['--secret is a placeholder', '--secret undefined', /--secret is a placeholder/],
  ])('exits with 2, naming the option and a remedy, if %s', async (_, line, message) => {
    const result = await paylink(words`emulate --port 0 ${line.split(' ')}`);
    expect(result).toMatchObject({ code: 2, stdout: '' });
    expect(result.stderr).toMatch(message);
    expect(result.stderr).not.toMatch(/\n {4}at |another-service/);
  });
});

it('paylink emulate logs the wait before the next attempt in seconds', () => {
  vi.useFakeTimers({ toFake: ['Date'], now: 0 });
  const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  onTestFinished(() => {
    vi.useRealTimers();
    write.mockRestore();
  });
  const request = { method: 'POST', url: 'http://localhost/', headers: {}, body: '{}' } as const;
  const attempt = { number: 1, startedAt: new Date(), durationMs: 3, request, error: 'closed' };
  const delivery = {
    ...({ id: 'a', event: 'payment.succeeded', reference: 'order-1', url: request.url } as const),
    ...({ createdAt: new Date(), state: 'pending', attemptCount: 1, attempts: [attempt] } as const),
    nextAttemptAt: new Date(2_500),
  };
  logAttempt(delivery, attempt, new Output(false));
  expect(write.mock.calls[0]![0]).toMatch(/order-1 → closed, again in 2\.5 s\n$/);
});
