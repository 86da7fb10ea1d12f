import dns from 'node:dns';
import { readFileSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect, promisify } from 'node:util';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { DEFAULTS } from '../src/contract/assumed.js';
import { startEmulator, type EmulatorOptions } from '../src/index.js';
import { isLoopbackAddress, isLoopbackHost, lookupLoopback } from '../src/server/loopback.js';
import { createLink, FIXED, FREE, readPayment } from './merchant.js';
import { statusAt } from './host-header.js';
import { start } from './set-up.js';

type LookupDone = (error: Error | null, address: string) => void;

// Longer than a busy machine needs, so only a fault runs into it.
vi.setConfig({ testTimeout: 30_000 });

const refusalOf = (options: object): Promise<unknown> =>
  startEmulator(options as EmulatorOptions).then(
    (emulator) => emulator.close(),
    (thrown: unknown) => thrown,
  );

describe('startEmulator', { tags: ['M01', 'M03'] }, () => {
  it('needs no options', async () => {
    const emulator = await start();
    expect(emulator.baseUrl).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/api$/);
    expect(emulator.baseUrl).toBe(`${emulator.payUrl}/api`);
    expect(emulator.apiKey).toMatch(/^sk_live_[0-9a-f]{12}\.[\w-]{32}$/);
    expect(emulator.webhookSecret).toMatch(/^[0-9a-f]{64}$/);
    expect(emulator.deliveries()).toEqual([]);
  });

  it(
    'keeps payments in no file, so that a full disk or a planted link does no harm',
    { tags: 'O22' },
    async () => {
      const folder = await mkdtemp(join(tmpdir(), 'paylink-emulator-'));
      onTestFinished(() => rm(folder, { recursive: true }));
      const state = join(folder, 'state.json');
      const options = { state } as EmulatorOptions;
      await expect(startEmulator(options)).rejects.toThrow('state is an unknown option');
      const before = process.cwd();
      process.chdir(folder);
      onTestFinished(() => process.chdir(before));
      const emulator = await start();
      await createLink(emulator);
      await emulator.pay('order-1');
      await emulator.close();
      expect(await readdir(folder)).toEqual([]);
    },
  );

  it('uses the given key, secret and host', async () => {
    const options = {
      host: 'localhost',
      apiKey: 'sk_live_id.secret',
      webhook: { secret: 'a-secret-of-the-test' },
    };
    const emulator = await start(options);
    expect(emulator).toMatchObject({
      apiKey: 'sk_live_id.secret',
      webhookSecret: 'a-secret-of-the-test',
    });
    expect(emulator.baseUrl).toMatch(/^http:\/\/localhost:/);
    await createLink(emulator);
    expect(await readPayment(emulator, 'order-1')).toMatchObject({ status: 'pending' });
  });

  it.each(['sk_live_a.b+c/d=', "sk_live_a!b.c'd.e~", 'sk_test_id.secret'])(
    'accepts the key %s, as the client does',
    async (apiKey) => {
      const emulator = await start({ apiKey });
      await createLink(emulator);
      expect(await readPayment(emulator, 'order-1')).toMatchObject({ status: 'pending' });
    },
  );

  it.each<[string, object, string]>([
    ['a host that other machines reach', { host: '0.0.0.0' }, 'host'],
    ['an IPv6 host that other machines reach', { host: '::' }, 'host'],
    ['a host with a name', { host: 'example.com' }, 'host'],
    ['an empty host', { host: '' }, 'host'],
    ['an allowRemote that is not a boolean', { allowRemote: 'yes' }, 'allowRemote'],
    ['an empty host with allowRemote', { host: '', allowRemote: true }, 'host'],
    ['allowHosts that are not a list', { allowHosts: 'a.example' }, 'allowHosts'],
    ['an allowed host with port 80', { allowHosts: ['a.example:80'] }, 'allowHosts'],
    ['an allowed host with another port', { allowHosts: ['a.example:8080'] }, 'allowHosts'],
    ['an allowed host with a path', { allowHosts: ['a.example/x'] }, 'allowHosts'],
    ['an allowed host that is a URL', { allowHosts: ['http://a.example'] }, 'allowHosts'],
    ['an allowed host that is empty', { allowHosts: [''] }, 'allowHosts'],
    ['a payUrl with a path', { payUrl: 'http://localhost:4010/pay' }, 'payUrl'],
    ['a payUrl without a scheme', { payUrl: 'localhost:4010' }, 'payUrl'],
    ['an allowed host that is not a string', { allowHosts: [1] }, 'allowHosts'],
    ['a blank merchant', { merchant: ' ' }, 'merchant'],
    ['a merchant of 101 characters', { merchant: 'M'.repeat(101) }, 'merchant'],
    ['a listener that is not a function', { onRequest: 1 }, 'onRequest'],
    ['another listener that is not a function', { onAttempt: 1 }, 'onAttempt'],
    ['a port out of range', { port: 65_536 }, 'port'],
    ['no port', { port: false }, 'port'],
    ['an empty secret', { webhook: { secret: '' } }, 'webhook.secret'],
    ['a secret that is null', { webhook: { secret: null } }, 'webhook.secret'],
    ['an API key as the secret', { webhook: { secret: 'sk_live_a.b' } }, 'webhook.secret'],
    ['a key of another form', { apiKey: 'key' }, 'apiKey'],
    ['a key without a secret part', { apiKey: 'sk_live_key.' }, 'apiKey'],
    ['a key with a blank', { apiKey: 'sk_live_a. b' }, 'apiKey'],
    ['a key with a line break', { apiKey: 'sk_live_a.b\r\nX: y' }, 'apiKey'],
    ['a key that does not fit into a header', { apiKey: 'sk_live_a.\u00e9' }, 'apiKey'],
    ['a misspelt option', { webhok: {} }, 'webhok'],
    ['a misspelt webhook option', { webhook: { uri: '' } }, 'uri'],
  ])('refuses %s, and names the option', async (_, options, option) => {
    const error = await refusalOf(options);
    expect(error).toMatchObject({ name: 'ConfigurationError', option });
    expect(inspect(error)).not.toContain('sk_live_a.b');
  });

  it.each([
    ['on a subdomain of an allowed host', 'http://b.a.example/'],
    ['on another machine', 'http://10.0.0.1/'],
    ['on a foreign name', 'https://localhost.example.com/'],
    ['on 0.0.0.0', 'http://0.0.0.0/'],
    ['with a user', 'http://localhost@127.0.0.1/'],
    ['with another protocol', 'file:///etc/passwd'],
    ['that is not a URL', 'localhost'],
  ])('refuses a webhook %s', async (_, url) => {
    const error = await refusalOf({ webhook: { url }, allowHosts: ['a.example'] });
    expect(error).toMatchObject({ name: 'ConfigurationError', option: 'webhook.url' });
  });

  it.each<[string, object]>([
    ['a misspelt name', { retries: 3 }],
    ['an unknown value', { replayedKey: 'x' }],
    ['a timeout of 0', { deliveryTimeout: 0 }],
    ['a delay over the timer limit', { longestRetryDelay: 2 ** 31 }],
    ['an error status of 200', { errorStatus: { not_found: 200 } }],
    ['a status for an unknown error', { errorStatus: { nope: 400 } }],
    ['an incomplete table of transitions', { transitions: { pending: [] } }],
    ['a transition to no status', { transitions: { ...DEFAULTS.transitions, failed: ['paid'] } }],
    ['a notificationBody that is not a function', { notificationBody: {} }],
  ])('refuses an assumption with %s, and names it', async (_, assumed) => {
    const option = `assumed.${Object.keys(assumed)[0]!}`;
    expect(await refusalOf({ assumed })).toMatchObject({ name: 'ConfigurationError', option });
  });

  it('reads no option from a polluted Object.prototype', async () => {
    const polluted = Object.prototype as Record<string, unknown>;
    Object.assign(polluted, { host: '0.0.0.0', allowRemote: true, errorStatus: 7, status: 404 });
    try {
      const emulator = await startEmulator({ port: 0 });
      expect(new URL(emulator.baseUrl).hostname).toBe('127.0.0.1');
      await emulator.createLink({ amount: 100, reference: 'order-1' });
      await emulator.close();
    } finally {
      for (const name of ['host', 'allowRemote', 'errorStatus', 'status'])
        Reflect.deleteProperty(polluted, name);
    }
  });

  it('rejects with EADDRINUSE if the port is in use', async () => {
    const { payUrl } = await start();
    await expect(startEmulator({ port: Number(new URL(payUrl).port) })).rejects.toMatchObject({
      code: 'EADDRINUSE',
    });
  });

  it('refuses a name of this machine that leads to another address', async () => {
    const lookup = (...args: unknown[]): void =>
      (args.at(-1) as (...found: unknown[]) => void)(null, '0.0.0.0', 4);
    const looks = vi.spyOn(dns, 'lookup').mockImplementation(lookup);
    onTestFinished(() => looks.mockRestore());
    await expect(start({ host: 'shop.localhost' })).rejects.toThrow('host resolves to 0.0.0.0');
  });

  it('answers only to the names of this machine, which prevents DNS rebinding', async () => {
    const { payUrl } = await start();
    for (const host of ['127.0.0.1', 'localhost:3000', '[::1]'])
      expect(await statusAt(`${payUrl}/link/x`, host)).toBe(404);
    for (const host of ['evil.example', '127.0.0.1.evil.example', 'localhost.evil.example'])
      expect(await statusAt(`${payUrl}/link/x`, host)).toBe(421);
  });

  it('answers a container by the name of its machine, but only where the API key is needed', async () => {
    const { payUrl, apiKey } = await start();
    const host = 'host.docker.internal:4010';
    const read = (key?: string) =>
      statusAt(`${payUrl}/api/v1/payments/x`, host, key === undefined ? {} : { 'X-Api-Key': key });
    expect([await read(apiKey), await read()]).toEqual([404, 401]);
    // A page at a rebound name could read and send these without a key.
    for (const path of ['/link/x', '/dashboard', '/', '/api/../dashboard'])
      expect(await statusAt(`${payUrl}${path}`, host), path).toBe(421);
    expect(await statusAt(`${payUrl}/api/v1/payments/x`, 'docker.internal')).toBe(421);
  });

  it('accepts only IP addresses and its own name as Host with allowRemote', async () => {
    const emulator = await start({ host: '0.0.0.0', allowRemote: true });
    expect(emulator.baseUrl).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/api$/);
    await createLink(emulator);
    const statusFor = (host: string): Promise<number> => statusAt(emulator.dashboardUrl, host);
    expect(await statusFor('192.0.2.7:80')).toBe(200);
    expect(await statusFor('[fd00::1]')).toBe(200);
    expect(await statusFor('evil.example')).toBe(421);
    expect(await statusFor('127.0.0.1.evil.example')).toBe(421);
    const named = await start({ host: 'LOCALHOST', allowRemote: true });
    expect(await statusAt(named.dashboardUrl, 'localhost')).toBe(200);
  });

  it('creates links at payUrl and accepts its name as Host', async () => {
    const payUrl = 'http://pay.shop.example:4010';
    const emulator = await start({ host: '0.0.0.0', allowRemote: true, payUrl });
    expect(emulator).toMatchObject({ payUrl, dashboardUrl: `${payUrl}/dashboard` });
    expect(emulator.baseUrl).not.toContain('pay.shop.example');
    const { url } = await emulator.createLink({ amount: 500, reference: 'order-1' });
    expect(url.startsWith(`${payUrl}/link/`)).toBe(true);
    const here = new URL(new URL(url).pathname, emulator.baseUrl).href;
    expect(await statusAt(here, 'pay.shop.example:4010')).toBe(200);
    const dashboard = await fetch(new URL('/dashboard', emulator.baseUrl));
    expect(dashboard.status).toBe(200);
  });

  it('sends to an allowed host without checking its address', async () => {
    const emulator = await start({
      webhook: { url: 'http://nobody.invalid:9/' },
      allowHosts: ['NOBODY.invalid', '[fd00::1]'],
    });
    await createLink(emulator);
    await emulator.pay('order-1');
    await vi.waitUntil(() => emulator.deliveries()[0]!.attempts.length > 0, { timeout: 10_000 });
    // The resolver answered, and the emulator did not refuse the name.
    expect(emulator.deliveries()[0]!.attempts[0]!.error).toMatch(/nobody\.invalid/);
    expect(emulator.deliveries()[0]!.attempts[0]!.error).not.toContain('loopback');
  });

  it('hides both secrets if the emulator is logged or serialised', { tags: 'B17' }, async () => {
    const emulator = await start();
    for (const text of [
      inspect(emulator, { showHidden: true, depth: 9 }),
      inspect({ emulator }),
      JSON.stringify(emulator),
    ]) {
      expect(text).toContain(emulator.baseUrl);
      expect(text).not.toContain(emulator.apiKey);
      expect(text).not.toContain(emulator.webhookSecret);
    }
  });

  it('escapes control characters of a reference in an error', async () => {
    const emulator = await start();
    const error = await emulator
      .pay('\u001b[31m\u009b31m\u202e"\n')
      .catch((thrown: unknown) => thrown as Error);
    expect((error as Error).message).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202e]/);
    expect((error as Error).message).toContain('U+202E');
  });

  it('prints an error that an assumed function throws, escaped, and the API does not tell it', async () => {
    const printed = vi.spyOn(console, 'error').mockReturnValue();
    const statusAnswer = (): never => {
      throw new Error('\u001b[31m\u202ehidden');
    };
    const emulator = await start({ assumed: { statusAnswer } });
    const headers = { 'X-Api-Key': emulator.apiKey };
    const answer = await fetch(`${emulator.baseUrl}/v1/payments/x`, { headers });
    expect([answer.status, await answer.text()]).toEqual([
      500,
      expect.not.stringMatching('hidden'),
    ]);
    const text = String(printed.mock.calls[0]?.[0]);
    printed.mockRestore();
    expect(text).toContain('‹U+001B›[31m‹U+202E›hidden');
    expect(text).not.toMatch(/[\u001b\u202e]/);
  });

  it('does not replace the global Request and Response', async () => {
    const { Request, Response } = globalThis;
    await start();
    expect([globalThis.Request, globalThis.Response]).toEqual([Request, Response]);
  });
});

describe('an emulator', () => {
  it('pays, fails and cancels as a customer would', async () => {
    const emulator = await start();
    await createLink(emulator, { ...FIXED, single_use: true });
    expect(await emulator.fail('order-1')).toMatchObject({ status: 'failed' });
    expect(await emulator.pay('order-1')).toMatchObject({ status: 'success', amount: 15_000 });
    await expect(emulator.pay('order-1')).rejects.toThrow('it is success');
    await expect(emulator.fail('order-1')).rejects.toThrow('it is success');
    await createLink(emulator, { ...FIXED, reference: 'order-2' });
    expect(await emulator.cancel('order-2')).toMatchObject({ status: 'cancelled' });
    await expect(emulator.pay('order-2')).rejects.toThrow('it is cancelled');
    await expect(emulator.pay('order-3')).rejects.toThrow('no payment');
  });

  it('pays a free amount at its lower bound or at the given amount', async () => {
    const emulator = await start();
    await createLink(emulator, FREE);
    expect(await emulator.pay('gift-1')).toMatchObject({ amount: 500 });
    expect(await emulator.pay('gift-1', { amount: 20_000 })).toMatchObject({ amount: 20_000 });
    await expect(emulator.pay('gift-1', { amount: 20_001 })).rejects.toThrow('from 500 to 20000');
    await createLink(emulator);
    await expect(emulator.pay('order-1', { amount: 1 })).rejects.toThrow('is 15000');
  });

  it('can be closed twice', async () => {
    const emulator = await start();
    await emulator.close();
    await emulator.close();
  });
});

describe('loopback', () => {
  it('includes the names and addresses of this machine, and no others', () => {
    const own = [
      '127.0.0.1',
      '127.255.0.3',
      '[::1]',
      '::1',
      'localhost',
      'LOCALHOST',
      'a.localhost',
    ];
    for (const host of own) expect(isLoopbackHost(host), host).toBe(true);
    const names = ['localhost.', '.localhost', 'localhost.evil.example', '127.0.0.1.nip.io', ''];
    const addresses = ['0.0.0.0', '128.0.0.1', '::', '169.254.169.254', '[localhost'];
    for (const host of [...names, ...addresses]) expect(isLoopbackHost(host), host).toBe(false);
    for (const short of ['127.1', 'localhost']) expect(isLoopbackAddress(short), short).toBe(false);
  });

  it('is checked on the address that a name resolves to', async () => {
    const resolve = promisify(
      lookupLoopback as (host: string, options: object, done: LookupDone) => void,
    );
    for (const host of ['localhost', 'shop.localhost'])
      expect(isLoopbackAddress(await resolve(host, {})), host).toBe(true);
  });
});

it('finds a webhook below localhost without looking up its name', async () => {
  const looks = vi.spyOn(dns, 'lookup');
  onTestFinished(() => looks.mockRestore());
  const { port } = new URL((await start()).baseUrl);
  const emulator = await start({ webhook: { url: `http://shop.localhost:${port}/nothing` } });
  await emulator.createLink({ reference: 'order-1', amount: 1 });
  await emulator.pay('order-1');
  await emulator.waitForDelivery({ reference: 'order-1', status: 404 });
  expect(looks.mock.calls.map(([name]) => name)).not.toContain('shop.localhost');
});

it('the README lists every switch of `assumed` with its default', { tags: 'M04' }, () => {
  const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
  const rows = new Map(
    Array.from(readme.matchAll(/^\| `(\w+)` +\| +(\S.*?) +\|/gm), ([, name, text]) => [name, text]),
  );
  for (const [name, value] of Object.entries(DEFAULTS)) {
    const isWord = typeof value === 'number' || typeof value === 'string';
    const start = isWord ? `\`?${value.toLocaleString('en')}\\b` : '\\S';
    expect(rows.get(name), name).toMatch(new RegExp(`^${start}`));
  }
});
