import { once } from 'node:events';
import { createServer, get, type IncomingMessage } from 'node:http';
import { createVerifier, memoryStore } from '@paylink/core';
import { keyedByTenant } from '@paylink/core/idempotency';
import { signedDelivery, TEST_SECRET } from '@paylink/testing';
import { expect, it, vi } from 'vitest';
import { paymentWebhook } from '../src/index.js';

const secret = TEST_SECRET;
const { rawBody, headers } = signedDelivery({ secret });
const event = { httpMethod: 'POST', headers, body: rawBody.toString(), isBase64Encoded: false };

it('acknowledges nothing that a store says is done without having run the handler', async () => {
  vi.spyOn(console, 'error').mockReturnValueOnce(undefined);
  const credit = vi.fn();
  const idempotency = { isDone: async () => false, run: async () => 'done' as const };
  const result = await paymentWebhook({ secret, idempotency }, credit)(event);
  expect([result.statusCode, result.body]).toEqual([503, '{"error":"store_unavailable"}']);
  expect(credit).not.toHaveBeenCalled();
});

it('verifies no text of an event, also where a function calls the verifier itself (K05)', async () => {
  const text = event.body as unknown as Uint8Array;
  await expect(createVerifier({ secret }).verify(text, event.headers)).rejects.toMatchObject({ code: 'body_consumed' });
});

it('says that something parsed the body first, where it is no text any more (F01)', async () => {
  const logged = vi.spyOn(console, 'error').mockReturnValue(undefined);
  const credit = vi.fn();
  const parsed = { ...event, body: JSON.parse(event.body) as string };
  const result = await paymentWebhook({ secret }, credit)(parsed);
  expect([result.statusCode, result.body]).toEqual([500, '{"error":"body_consumed"}']);
  expect(String(logged.mock.lastCall?.[0])).toContain('Leave httpJsonBodyParser');
  expect(credit).not.toHaveBeenCalled();
  logged.mockRestore();
});

it.each([199, 300, 302, 404, 503, '503', '5xx', ''])(
  'does not acknowledge what a handler refused by returning { statusCode: %s }',
  async (statusCode) => {
    const refuse = vi.fn(async () => ({ statusCode, body: '' }));
    const thrown = `the handler returned { statusCode: ${statusCode} }`;
    await expect(paymentWebhook({ secret }, refuse)(event)).rejects.toThrow(thrown);
    // Under a store it is not done: the same delivery runs it again.
    const receive = paymentWebhook({ secret, idempotency: memoryStore() }, { 'payment.succeeded': refuse });
    for (let time = 0; time < 2; time++) await expect(receive(event)).rejects.toThrow(thrown);
    expect(refuse).toHaveBeenCalledTimes(3);
  },
);

it.each([
  { statusDescription: '503 Service Unavailable' },
  { headers: {} },
  { multiValueHeaders: {} },
  { cookies: [] },
  { body: '' },
  { body: null },
  { body: { error: 'no stock' } },
  { isBase64Encoded: false },
  { reason: 'no stock' },
])('knows a refusal that has %j too', async (field) => {
  const refuse = (): object => ({ statusCode: 503, ...field });
  await expect(paymentWebhook({ secret }, refuse)(event)).rejects.toThrow('the handler returned { statusCode: 503 }');
});

it.each([undefined, null, 'credit', 5])('takes %j for no handlers', (handlers) => {
  expect(() => paymentWebhook({ secret }, handlers as never)).toThrow(/^handlers /);
});

it.each([
  { statusCode: 200 },
  { statusCode: 299 },
  { statusCode: 204 },
  { statusCode: '204' },
  { statusCode: true },
  { id: 7, reference: 'order-42', statusCode: 'PAID' },
  { id: 7, statusCode: 3 },
  { id: 7, statusCode: 1503 },
  { id: 7, statusCode: 5031 },
  { statusCode: {} },
  undefined,
  null,
  503,
])('acknowledges where a handler returned %j', async (value) => {
  const result = await paymentWebhook({ secret }, () => value)(event);
  expect([result.statusCode, result.body]).toEqual([200, '{"received":true}']);
});

it('throws a returned Error as it is, whatever status it carries', async () => {
  const error = Object.assign(new Error('db down'), { statusCode: 503 });
  const cause = await paymentWebhook({ secret }, () => error)(event).catch((thrown: unknown) => (thrown as Error).cause);
  expect(cause).toBe(error);
});

it('acknowledges where a handler returned the answer of an HTTP client, whatever that said', async () => {
  const server = createServer((_req, res) => res.writeHead(404).end('not here')).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  const ask = async (): Promise<unknown> => {
    const [response] = (await once(get({ port, host: '127.0.0.1' }), 'response')) as [IncomingMessage];
    return response.resume();
  };
  // As undici's `request` gives it: a plain object, whose body is a stream.
  const wrapped = async (): Promise<unknown> => ({ statusCode: 404, headers: {}, trailers: {}, opaque: null, body: await ask() });
  try {
    for (const handler of [ask, wrapped]) expect((await paymentWebhook({ secret }, handler)(event)).statusCode).toBe(200);
  } finally {
    server.close();
  }
});

it('asks for `tenant` where a handler keys by it', () => {
  const keying = keyedByTenant(() => undefined);
  expect(() => paymentWebhook({ secret: () => secret }, keying)).toThrow(/^tenant is missing/);
  expect(() => paymentWebhook({ secret: () => secret }, { 'payment.succeeded': keying })).toThrow(/^tenant is missing/);
});
