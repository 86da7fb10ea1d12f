import { existsSync } from 'node:fs';
import { createClient } from '@paylink/client';
import { describe, expect, it } from 'vitest';
import { API_KEY, newFolder, paylink, SECRET, start, words } from './paylink.js';
import { openShop, serve } from './servers.js';
import { environmentOf, openEmulator } from './shop/index.js';

const CHOSEN = { amount_min: 5, amount_max: 10, description: 'A basket' };

describe('paylink pay, fail and cancel', () => {
  it('settle payments of a running emulator with its stored key', async () => {
    const shop = await openShop();
    const cwd = newFolder();
    const args = words`emulate --port 0 --json --webhook ${shop.url}`;
    const running = start(args, { WEBHOOK_SECRET: SECRET }, cwd);
    const started = JSON.parse((await running.until(/^.*\n/))[0]) as Record<string, string>;
    const { baseUrl = '', apiKey = '' } = started;
    const client = createClient({ baseUrl, apiKey });
    await client.createPaymentLink({ amount: 15_000, reference: 'order-1', single_use: true });
    await client.createPaymentLink({ ...CHOSEN, reference: 'gift' });
    await client.createPaymentLink({ amount: 1, reference: 'order-3' });
    const tell = (...command: string[]) => paylink([...command, '--base-url', baseUrl], { cwd });
    for (const [line, stdout] of [
      ['fail order-1', 'order-1: failed, 15000 XOF\n'],
      ['pay order-1', 'order-1: success, 15000 XOF\n'],
      ['pay gift --amount 7', 'gift: success, 7 XOF\n'],
    ] as const)
      expect(await tell(...line.split(' '))).toEqual({ code: 0, stdout, stderr: '' });
    expect(await tell('pay', 'order-3', '--api-key', 'sk_live_wrong.key')).toMatchObject({
      code: 1,
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
    const emulator = await openEmulator();
    await emulator.createLink({ amount: 1, reference: 'order-1', single_use: true });
    await emulator.createLink({ ...CHOSEN, reference: 'gift' });
    await emulator.cancel('order-1');
    const env = environmentOf(emulator);
    for (const [line, message] of [
      ['pay order-1', 'it is cancelled (transition_not_allowed)'],
      ['pay nothing', '(payment_not_found)'],
      ['pay gift --amount 11', 'from 5 to 10 (invalid_amount)'],
    ] as const) {
      const stderr = expect.stringContaining(message) as string;
      expect(await paylink(line.split(' '), { env })).toMatchObject({ code: 1, stderr });
    }
  });

  it('require the API key of the emulator', async () => {
    const { baseUrl } = await openEmulator();
    const args = ['pay', 'order-1', '--base-url', baseUrl];
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
    'http://evil-localhost/api',
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
    const other = await serve((_req, res) => res.writeHead(404).end('not found'));
    for (const [origin, message] of [
      ['http://127.0.0.1:9', 'no emulator answers at http://127.0.0.1:9'],
      [other, 'the server answered 404: is it an emulator of this version?'],
    ] as const) {
      const args = words`pay order-1 --base-url ${origin}/api --api-key ${API_KEY}`;
      const stderr = expect.stringContaining(message) as string;
      expect(await paylink(args)).toMatchObject({ code: 1, stderr });
    }
  });
});
