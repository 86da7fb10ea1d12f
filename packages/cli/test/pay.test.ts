import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { API_KEY, newFolder, paylink, SECRET, start } from './paylink.js';
import { openShop, serve } from './servers.js';

/** An emulator that keeps its secrets in its own folder. */
async function emulate(args: readonly string[] = [], env: Readonly<Record<string, string>> = {}) {
  const folder = newFolder();
  const running = start(['emulate', '--port', '0', '--json', ...args], env, folder);
  const started = JSON.parse((await running.until(/^.*\n/))[0]) as Record<
    'baseUrl' | 'apiKey',
    string
  >;
  const createLink = async (fields: object): Promise<void> => {
    const response = await fetch(`${started.baseUrl}/v1/payment-links`, {
      method: 'POST',
      headers: {
        'x-api-key': started.apiKey ?? env['PAYLINK_API_KEY'],
        'content-type': 'application/json',
      },
      body: JSON.stringify({ description: 'A basket', ...fields }),
    });
    expect(response.status).toBe(201);
  };
  const tell = (...command: string[]) =>
    paylink([...command, '--base-url', started.baseUrl], { cwd: folder });
  return { running, folder, started, createLink, tell };
}

describe('paylink pay, fail and cancel', () => {
  it('settle payments of a running emulator with its stored key', async () => {
    const shop = await openShop();
    const { createLink, tell, running } = await emulate(['--webhook', shop.url], {
      WEBHOOK_SECRET: SECRET,
    });
    await createLink({ amount: 15_000, reference: 'order-1', single_use: true });
    await createLink({ amount_min: 5, amount_max: 10, reference: 'gift' });
    await createLink({ amount: 1, reference: 'order-3' });
    expect(await tell('fail', 'order-1')).toMatchObject({
      code: 0,
      stdout: 'order-1: failed, 15000 XOF\n',
      stderr: '',
    });
    expect(await tell('pay', 'order-1')).toMatchObject({
      code: 0,
      stdout: 'order-1: success, 15000 XOF\n',
    });
    expect(await tell('pay', 'gift', '--amount', '7')).toMatchObject({
      code: 0,
      stdout: 'gift: success, 7 XOF\n',
    });
    const { code, stdout } = await tell('cancel', 'order-3', '--json');
    expect([code, JSON.parse(stdout)]).toMatchObject([
      0,
      { reference: 'order-3', status: 'cancelled' },
    ]);
    await running.until(/"reference":"gift".*"acknowledged":true/);
    expect(shop.credited.sort()).toEqual(['gift', 'order-1']);
  });

  it('explain why a payment cannot reach the status', async () => {
    const { createLink, tell } = await emulate();
    await createLink({ amount: 1, reference: 'order-1', single_use: true });
    await createLink({ amount_min: 5, amount_max: 10, reference: 'gift' });
    await tell('cancel', 'order-1');
    expect(await tell('pay', 'order-1')).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/it is cancelled \(transition_not_allowed\)/) as string,
    });
    expect(await tell('pay', 'nothing')).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/\(payment_not_found\)/) as string,
    });
    expect(await tell('pay', 'gift', '--amount', '11')).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/from 5 to 10 \(invalid_amount\)/) as string,
    });
  });

  it('require the API key of the emulator', async () => {
    const { started } = await emulate([], { PAYLINK_API_KEY: API_KEY });
    const args = ['pay', 'order-1', '--base-url', started.baseUrl];
    const without = await paylink(args);
    expect(without).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('no API key for the emulator') as string,
    });
    const wrong = await paylink(args, { env: { PAYLINK_API_KEY: 'sk_live_wrong.key' } });
    expect(wrong).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/\(unauthorized\)[^]*belongs to another project/) as string,
    });
  });

  it.each([
    'https://pay.example/api',
    'http://127.0.0.1.evil.example/api',
    'http://10.0.0.1:4010/api',
    'nothing',
  ])('refuse %s, which is not an emulator on this machine', async (baseUrl) => {
    const folder = newFolder();
    const result = await paylink(['pay', 'order-1', '--base-url', baseUrl], {
      env: { PAYLINK_API_KEY: API_KEY },
      cwd: folder,
    });
    expect(result).toMatchObject({ code: 2, stdout: '' });
    expect(existsSync(`${folder}/.paylink`)).toBe(false);
  });

  it('send the API key to no other address, to which a server redirects', async () => {
    const keys: unknown[] = [];
    const elsewhere = await serve((req, res) => {
      keys.push(req.headers.authorization);
      res.end('{}');
    });
    const url = await serve((_req, res) => res.writeHead(307, { location: elsewhere }).end());
    const args = ['pay', 'order-1', '--base-url', `${url}/api`];
    expect((await paylink(args, { env: { PAYLINK_API_KEY: API_KEY } })).code).toBe(1);
    expect(keys).toEqual([]);
  });

  it('report that no emulator answers', async () => {
    const result = await paylink(['pay', 'order-1', '--base-url', 'http://127.0.0.1:9/api'], {
      env: { PAYLINK_API_KEY: API_KEY },
    });
    expect(result).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('no emulator answers at http://127.0.0.1:9') as string,
    });
  });
});
