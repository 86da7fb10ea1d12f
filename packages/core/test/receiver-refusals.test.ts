import { describe, expect, it, vi } from 'vitest';
import { createReceiver, sign } from '../src/index.js';
import { createReceiverOrRefuse } from '../src/internal.js';

const SECRET = 'a-webhook-secret-of-some-length';
const handlers = { 'payment.succeeded': () => undefined };

describe('createReceiverOrRefuse', () => {
  it('refuses every delivery without a secret, logs the reason once, and reads no body', async () => {
    const logger = { warn: vi.fn(), error: vi.fn() };
    const observe = vi.fn();
    const onError = vi.fn();
    const options = { secret: undefined, logger, observe, onError };
    const receiver = createReceiverOrRefuse(options, handlers);
    const body = vi.fn();
    for (let round = 0; round < 2; round++) {
      const reply = await receiver.receive({ header: () => undefined, body }, {});
      expect(reply).toMatchObject({ status: 500, body: '{"error":"misconfigured"}' });
    }
    expect(body).not.toHaveBeenCalled();
    expect(onError).not.toHaveBeenCalled();
    const line = '[paylink] 500 misconfigured: this route cannot verify (secret is missing.';
    expect(logger.error).toHaveBeenCalledExactlyOnceWith(
      expect.stringContaining(line),
      expect.objectContaining({ code: 'misconfigured', status: 500 }),
    );
    const outcome = { outcome: 'failed', code: 'misconfigured' };
    expect(observe.mock.calls).toMatchObject([[outcome], [outcome]]);
  });

  it.each([SECRET, undefined])('throws for every other mistake, with the secret %s', (secret) => {
    expect(() => createReceiverOrRefuse({ secret, bodyLimit: 0 }, handlers)).toThrow('bodyLimit');
    expect(() => createReceiverOrRefuse({ secret, limit: 1 } as never, handlers)).toThrow('limit');
    expect(() => createReceiverOrRefuse({ secret }, {} as never)).toThrow('payment.succeeded');
  });
});

it.each(['GET', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS', 'post', ''])(
  'a delivery by %j gets 405, and no byte of its body is read',
  async (method) => {
    const logger = { warn: () => undefined, error: () => undefined };
    const receiver = createReceiver({ secret: SECRET, logger }, handlers);
    const body = vi.fn();
    const reply = await receiver.receive({ method, header: () => undefined, body }, {});
    expect(reply).toMatchObject({ status: 405, headers: { allow: 'POST' } });
    expect(body).not.toHaveBeenCalled();
  },
);

it('a kind with the name of an inherited property has no handler', async () => {
  const logger = { warn: () => undefined, error: () => undefined };
  const observe = vi.fn();
  const schema = {
    '~standard': { version: 1, vendor: 'x', validate: (value: unknown) => ({ value }) },
  };
  const receiver = createReceiver(
    { secret: SECRET, logger, observe, events: { constructor: schema as never } },
    handlers as never,
  );
  const rawBody = new TextEncoder().encode('{"reference":"order-42"}');
  const headers: Record<string, string> = {
    'x-service-signature': await sign(rawBody, SECRET),
    'x-service-event': 'constructor',
  };
  const reply = await receiver.receive(
    { header: (name) => headers[name], body: () => Promise.resolve(rawBody) },
    {},
  );
  expect(reply.status).toBe(200);
  expect(observe).toHaveBeenCalledWith(expect.objectContaining({ outcome: 'ignored' }));
});
