import { startEmulator, type Emulator } from '@paylink/emulator';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { API_KEY, paylink, SECRET, words } from './paylink.js';
import { serve } from './servers.js';

let emulator: Emulator;
let env: Record<string, string>;

beforeAll(async () => {
  emulator = await startEmulator({ apiKey: API_KEY, webhook: { secret: SECRET } });
  env = { PAYLINK_API_KEY: API_KEY, PAYLINK_BASE_URL: emulator.baseUrl };
});
afterAll(() => emulator.close());

const create = (args: readonly string[]) => paylink(['links', 'create', ...args], { env });

/** Parses the answer of --json. */
function read(stdout: string): Record<string, unknown> {
  return JSON.parse(stdout) as Record<string, unknown>;
}

describe('paylink links create', () => {
  it('creates a link with a fixed amount, and prints its URL first', async () => {
    const { code, stdout, stderr } = await create(
      words`--reference fixed-1 --amount 15000 --single-use`,
    );
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const [url, , ...rest] = stdout.split('\n');
    expect((await fetch(url!)).status).toBe(200);
    expect(rest.join('\n')).toBe(
      '  Reference  fixed-1\n  Amount     15000 XOF\n  Status     pending\n',
    );
  });

  it('creates a link whose amount the customer chooses', async () => {
    const args = words`--amount-min 500 --amount-max 900 --description ${'A gift'} --json`;
    const link = read((await create(['--reference', 'free-1', ...args])).stdout);
    expect(link).toMatchObject({ reference: 'free-1', status: 'pending', currency: 'XOF' });
    expect((await paylink(['payments', 'get', 'free-1'], { env })).stdout).toMatch(
      /Amount +not chosen yet\n/,
    );
    expect(await emulator.pay('free-1', { amount: 700 })).toMatchObject({ amount: 700 });
  });

  it('sends every field', async () => {
    const bodies: unknown[] = [];
    const keys: unknown[] = [];
    const url = await serve((req, res) => {
      keys.push(req.headers['idempotency-key']);
      req.on('data', (chunk: Buffer) => bodies.push(JSON.parse(chunk.toString())));
      req.on('end', () => res.writeHead(400).end());
    });
    const shop = 'https://shop.example';
    const pages = words`--return-url ${shop}/thanks --cancel-url ${shop}/basket`;
    const args = words`--reference a --amount 1 --description x --single-use ${pages}`;
    // Not a loopback address, so it needs --allow-http, though it leads here.
    const there = words`--base-url ${url.replace('127.0.0.1', '0.0.0.0')}/api --allow-http 0.0.0.0`;
    await create(words`${args} --idempotency-key key-1 ${there}`);
    expect(keys).toEqual(['key-1']);
    expect(bodies).toEqual([
      {
        reference: 'a',
        amount: 1,
        description: 'x',
        single_use: true,
        return_url: 'https://shop.example/thanks',
        cancel_url: 'https://shop.example/basket',
      },
    ]);
  });

  it.each([
    ['no amount is given', '', /no amount/],
    ['--amount-max is missing', '--amount-min 1', /all three of --amount-min/],
    ['bounds are reversed', '--amount-min 2 --amount-max 1 --description x', /amount_min/],
    ['--return-url is not a URL', '--amount 1 --return-url /thanks', /return_url/],
    ['--idempotency-key is not ASCII', '--amount 1 --idempotency-key é', /printable ASCII/],
    ['http leaves this machine', '--amount 1 --base-url http://a.example', /https.*--allow-http/],
  ])('exits with 2 and sends nothing if %s', async (_, line, message) => {
    const result = await create(words`--reference a ${line.split(' ').filter(Boolean)}`);
    expect(result).toMatchObject({ code: 2, stdout: '' });
    expect(result.stderr).toMatch(message);
    expect(result.stderr).not.toMatch(/\n {4}at /);
  });

  it('prints the refusal of the service without control characters or the API key', async () => {
    const url = await serve((_req, res) => {
      res
        .writeHead(422, { 'x-request-id': 'req-7' })
        .end(`{"error":"\u009b31mtoo low\u202e ${API_KEY}"}`);
    });
    const { code, stdout, stderr } = await create(
      words`--reference a --amount 1 --base-url ${url}`,
    );
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    // The client itself hides the key before the command would.
    expect(stderr).toContain(
      String.raw`the service said: {"error":"\x9b31mtoo low\u202e [API key]"}`,
    );
    expect(stderr).toContain('its request id is req-7');
    expect(stderr).not.toMatch(/--idempotency-key|[\u0080-\u009f\u202e]/);
  });

  it(
    'prints the idempotency key if it is unknown whether the link was created',
    { tags: 'L01' },
    async () => {
      const url = await serve((req) => req.socket.destroy());
      const { code, stderr } = await create(words`--reference a --amount 1 --base-url ${url}`);
      expect(code).toBe(1);
      expect(stderr).toMatch(
        /the link may exist: retry with --idempotency-key [0-9a-f-]{36} to avoid/,
      );
    },
  );
});

describe('paylink payments get', () => {
  it('reads the status of a payment, and shows a pending one in yellow', async () => {
    await create(words`--reference read/1? --amount 250`);
    const before = await paylink(['payments', 'get', 'read/1?'], { env });
    expect(before).toEqual({
      code: 0,
      stdout: '  Reference  read/1?\n  Status     pending\n  Amount     250 XOF\n',
      stderr: '',
    });
    const colours = { ...env, FORCE_COLOR: '1' };
    const coloured = await paylink(['payments', 'get', 'read/1?'], { env: colours });
    expect(coloured.stdout).toContain('\u001b[33mpending');
    await emulator.pay('read/1?');
    const after = await paylink(['payments', 'get', 'read/1?', '--json'], { env });
    expect(read(after.stdout)).toEqual({
      reference: 'read/1?',
      type: 'payment',
      status: 'success',
      amount: 250,
      currency: 'XOF',
    });
  });

  it('exits with 1 if the payment does not exist or the key is wrong', async () => {
    const none = await paylink(['payments', 'get', 'nothing-1', '--json'], { env });
    expect(none).toMatchObject({ code: 1, stdout: '' });
    expect(none.stderr).toContain('(not_found)');
    const wrong = await paylink(['payments', 'get', 'nothing-1'], {
      env: { ...env, PAYLINK_API_KEY: 'sk_live_other.key-of-another' },
    });
    expect(wrong).toMatchObject({ code: 1, stdout: '' });
    expect(wrong.stderr).toContain('(unauthorized)');
    expect(wrong.stderr).not.toContain('key-of-another');
  });

  it.each([
    ['no API key is set', { PAYLINK_API_KEY: '' }, 'a', /no API key\n {2}set PAYLINK_API_KEY/],
    [
      'no base URL is set',
      { PAYLINK_BASE_URL: '' },
      'a',
      /no service address\n {2}set PAYLINK_BASE_URL/,
    ],
    [
      'the API key is the webhook secret',
      { PAYLINK_API_KEY: SECRET },
      'a',
      /PAYLINK_API_KEY must have the form sk_live_/,
    ],
    ['the reference is ".."', {}, '..', /must not be "." or ".."/],
  ])('exits with 2 if %s', async (_, variables, reference, message) => {
    const result = await paylink(['payments', 'get', reference], { env: { ...env, ...variables } });
    expect(result).toMatchObject({ code: 2, stdout: '' });
    expect(result.stderr).toMatch(message);
  });

  it('prints an unknown status without control characters', { tags: 'L12' }, async () => {
    const payment = {
      reference: 'a',
      type: 'payment',
      amount: 1,
      currency: 'X\u001b[1m',
      status: 'paid\r\u202e',
    };
    const url = await serve(
      (_req, res) =>
        void res
          .writeHead(200, { 'content-type': 'application/json' })
          .end(JSON.stringify(payment)),
    );
    const { code, stdout } = await paylink(['payments', 'get', 'a'], {
      env: { ...env, PAYLINK_BASE_URL: url },
    });
    expect(code).toBe(0);
    expect(stdout).toBe(String.raw`  Reference  a
  Status     unknown to this program: paid\x0d\u202e
  Amount     1 X\x1b[1m
`);
  });
});
