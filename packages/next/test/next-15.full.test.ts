import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { signedDelivery, TEST_SECRET } from '@paylink/testing';
import {
  build,
  NextInstallation,
  NextServer,
  stopServers,
} from '../../../examples/next/test/next-app.js';

const ROUTES = ['/api/webhooks/payments', '/api/webhooks/edge', '/api/webhooks/payments-pages'];
const installed = new NextInstallation(fileURLToPath(new URL('./next-15', import.meta.url)));

afterAll(async () => {
  await stopServers();
  installed.removeCopies();
});

async function post(
  url: string,
  secret: string,
  reference: string,
): Promise<[status: number, body: string]> {
  const response = await fetch(signedDelivery({ secret, reference }).toRequest(url));
  return [response.status, await response.text()];
}

/** Expects each route to credit a genuine delivery once and to refuse a forged one. */
async function expectProven(server: NextServer): Promise<void> {
  for (const [index, path] of ROUTES.entries()) {
    const url = server.url + path;
    for (let time = 0; time < 3; time++) {
      expect(await post(url, WEBHOOK_SECRET, `order-paid-${index}`)).toEqual([
        200,
        '{"received":true}',
      ]);
    }
    expect(await post(url, 'a-secret-of-nobody-at-all', `order-stolen-${index}`)).toEqual([
      401,
      '{"error":"invalid_signature"}',
    ]);
    expect(await post(url, WEBHOOK_SECRET, `order-last-${index}`)).toEqual([
      200,
      '{"received":true}',
    ]);
    // The server's lines come in their order.
    await server.log(new RegExp(`^ *credited order-last-${index}$`, 'm'));
    expect(server.credits(`order-paid-${index}`)).toBe(1);
    expect(server.credits(`order-stolen-${index}`)).toBe(0);
  }
}

const WEBHOOK_SECRET = `${TEST_SECRET}-of-next-15`;

describe('the example on Next.js 15', () => {
  it('builds without a secret, its types being checked, and serves genuine and forged deliveries on every router', async () => {
    const app = installed.copyExample('example');
    const { code, output } = await build(app);
    expect(output).toMatch(/Next\.js 15\./);
    expect(code, output).toBe(0);
    for (const command of ['start', 'dev'] as const) {
      const server = await NextServer.run(command, app, { WEBHOOK_SECRET });
      await expectProven(server);
      await server.stop();
    }
  }, 300_000);
});
