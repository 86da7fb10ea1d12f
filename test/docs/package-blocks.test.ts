/**
 * The blocks of the packages' READMEs that are no receiver of a host, each run as it stands there.
 */
import type { PaymentLinkRequest } from '@paylink/client';
import { startEmulator, type Emulator } from '@paylink/emulator';
import { paymentWebhook } from '@paylink/node';
import { signedDelivery, TEST_SECRET } from '@paylink/testing';
import {
  afterAll,
  beforeAll,
  beforeEach,
  describe,
  expect,
  it,
  vi,
  type MockInstance,
} from 'vitest';
import { SHAPES } from '../../packages/lambda/test/events.js';
import { blockOf, runBlock, serve } from './blocks.js';

const ofPackage = (name: string) => (containing: string) =>
  blockOf(`packages/${name}/README.md`, containing);

/** A block that names the port of a server is run with that of the test's. */
const onPortOf = (url: string, code: string): string =>
  code.replaceAll('127.0.0.1:3000', new URL(url).host);

let log: MockInstance<typeof console.log>;

beforeEach(() => {
  vi.restoreAllMocks();
  log = vi.spyOn(console, 'log').mockImplementation(() => undefined);
  vi.spyOn(console, 'warn').mockImplementation(() => undefined);
});

describe('a block of core’s README', () => {
  const readme = ofPackage('core');

  it('credits verified deliveries and answers forged ones with the status of the error', async () => {
    const creditOrder = vi.fn(async () => undefined);
    const block = await runBlock(await readme('createVerifier({'), {
      env: { WEBHOOK_SECRET: TEST_SECRET },
      declared: { creditOrder },
    });
    const { receive } = block as { receive(rawBody: Uint8Array, headers: object): Promise<number> };
    const genuine = signedDelivery({ reference: 'order-42' });
    expect(await receive(genuine.rawBody, genuine.headers)).toBe(200);
    expect(await receive(Buffer.from('{}'), genuine.headers)).toBe(401);
    expect(creditOrder.mock.calls).toEqual([['order-42']]);
  });

  it('explains a mismatched signature', async () => {
    const { rawBody, signature } = signedDelivery({ rawBody: '{"reference":"order-42"}' });
    const error = vi.spyOn(console, 'error').mockImplementation(() => undefined);
    const declared = { rawBody: Buffer.concat([rawBody, Buffer.from('\n')]), signature };
    await runBlock(await readme("from '@paylink/core/diagnose'"), {
      declared,
      env: { WEBHOOK_SECRET: TEST_SECRET },
    });
    expect(error).toHaveBeenCalledExactlyOnceWith(
      'body_newline',
      expect.stringContaining('line break'),
    );
  });
});

describe('a block that asks the emulated service', () => {
  let emulator: Emulator;
  let env: Record<string, string>;

  beforeAll(async () => {
    emulator = await startEmulator();
    env = {
      PAYLINK_BASE_URL: emulator.baseUrl,
      PAYLINK_API_KEY: emulator.apiKey,
      WEBHOOK_SECRET: TEST_SECRET,
    };
  });
  afterAll(() => emulator.close());
  beforeEach(() => emulator.reset());

  const readme = ofPackage('client');

  it('creates a link and reads its payment', async () => {
    await runBlock(await readme("idempotencyKey: 'order-42-attempt-1'"), { env });
    expect(log.mock.calls).toEqual([[expect.stringContaining(new URL(emulator.baseUrl).host)]]);
  });

  it('creates one link although the first call gets no answer', async () => {
    const keys = new Set<string | null>();
    const answers: Response[] = [];
    const reach = globalThis.fetch;
    let lost = 0;
    const losing: typeof fetch = async (input, init) => {
      keys.add(new Headers(init?.headers).get('idempotency-key'));
      answers.push((await reach(input, init)).clone());
      // A call has four tries.
      if ((lost += 1) <= 4) throw new TypeError('fetch failed');
      return answers.at(-1)!;
    };
    const block = await runBlock(await readme('createOnce(link'), {
      env,
      declared: { fetch: losing },
    });
    const { createOnce } = block as { createOnce(link: PaymentLinkRequest): Promise<string> };
    const url = await createOnce({ amount: 500, reference: 'order-1', single_use: true });
    expect([answers.length, keys.size]).toEqual([5, 1]);
    expect(await answers[0]!.json()).toMatchObject({ url });
  });
});

describe('a block of the emulator’s README', () => {
  const readme = ofPackage('emulator');
  const shop = async (): Promise<string> =>
    serve(paymentWebhook({ secret: TEST_SECRET }, () => undefined));

  it('creates a link, pays, and waits for the answer of the shop', async () => {
    const code = onPortOf(await shop(), await readme('emulator.dashboardUrl'));
    await runBlock(code, { env: { WEBHOOK_SECRET: TEST_SECRET } });
    expect(log.mock.calls[0]![0]).toMatchObject([{ reference: 'order-42', state: 'delivered' }]);
  });
});

describe('a block of the README of', () => {
  const env = { WEBHOOK_SECRET: TEST_SECRET };

  it('passes as the test of a route of Next', async () => {
    await runBlock(await ofPackage('next')('In your test: import'));
    expect(log.mock.calls).toEqual([[200]]);
  });

  it('credits signed deliveries by a Lambda function', async () => {
    const creditOrder = vi.fn(async () => undefined);
    const { handler } = (await runBlock(await ofPackage('lambda')('{ event, context'), {
      env,
      declared: { creditOrder },
    })) as {
      handler(event: object, context: object): Promise<{ readonly statusCode: number }>;
    };
    const { headers, rawBody } = signedDelivery({ reference: 'order-42' });
    for (const eventOf of Object.values(SHAPES)) {
      const event = eventOf({ headers: Object.entries(headers), body: rawBody });
      expect((await handler(event, {})).statusCode).toBe(200);
    }
    expect(creditOrder).toHaveBeenCalledTimes(Object.keys(SHAPES).length);
  });

  it('makes a delivery in every form', async () => {
    const url = await serve(paymentWebhook({ secret: TEST_SECRET }, () => undefined));
    const POST = vi.fn(async () => undefined);
    const inject = vi.fn(async () => undefined);
    const app = paymentWebhook({ secret: TEST_SECRET }, () => undefined);
    const code = onPortOf(url, await ofPackage('testing')('delivery.toInject'));
    await runBlock(code, { declared: { app, POST, fastify: { inject } } });
    expect([POST.mock.calls.length, inject.mock.calls.length]).toEqual([1, 1]);
  });
});
