import { afterEach, describe, expect, it, vi } from 'vitest';
import { createDispatcher, createReceiver, createVerifier, type Logger } from '../src/index.js';
import { deliver, secret } from './deliver.js';

const no = (): never => {
  throw new Error('the log is full');
};
// Typed as a plain function, as an async logger of plain JavaScript passes.
const rejects = (): undefined => Promise.reject(new Error('no')) as never;
const loggers: Readonly<Record<string, Logger>> = {
  'that throws': { warn: no, error: no },
  'that rejects': { warn: rejects, error: rejects },
  'whose thenable throws': { warn: () => ({ then: no }), error: () => ({ then: no }) },
};

afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

describe.each(Object.entries(loggers))('a logger %s', (_name, logger) => {
  const forged = deliver({ extra: { 'x-service-signature': '0'.repeat(64) } });
  const failing = {
    getPayment: () => Promise.reject<{ reference: string; status: string }>(new Error('ECONNREFUSED')),
  };

  it.each(['production', 'development'])('does not change a 401 in %s (N15)', async (environment) => {
    vi.stubEnv('NODE_ENV', environment);
    const receiver = createReceiver({ secret: 'a-secret-of-the-portal', logger }, () => undefined);
    expect(await receiver.receive(forged, {})).toMatchObject({ status: 401, body: '{"error":"invalid_signature"}' });
    const gate = createReceiver({ secret: 'a-secret-of-the-portal', logger });
    expect((await gate.admit(forged, {})).reply).toMatchObject({ status: 401 });
    await expect(gate.verify(forged)).rejects.toMatchObject({ code: 'invalid_signature' });
  });

  it('does not change a 503 (N15)', async () => {
    const receiver = createReceiver({ secret, confirm: failing, logger }, () => undefined);
    expect(await receiver.receive(deliver(), {})).toMatchObject({ status: 503, body: '{"error":"confirm_unavailable"}' });
    const provided = createReceiver({ secret: () => Promise.reject(new Error('vault')), logger }, () => undefined);
    expect(await provided.receive(deliver(), {})).toMatchObject({ status: 503, body: '{"error":"secret_unavailable"}' });
  });

  it('does not change what a handler threw, nor what a dispatcher throws (N15)', async () => {
    const error = Object.assign(new Error('no'), { status: 200 });
    const receiver = createReceiver({ secret, logger }, () => {
      throw error;
    });
    await expect(receiver.receive(deliver(), {})).rejects.toMatchObject({ cause: error });
    const { body } = deliver();
    const dispatcher = createDispatcher({ confirm: failing, logger }, () => undefined);
    const proven = { kind: 'payment.succeeded', rawBody: await body({ bodyLimit: 1, bodyTimeout: 1 }), secretIndex: 0 };
    await expect(dispatcher.dispatch(proven, {})).rejects.toMatchObject({ code: 'confirm_unavailable' });
  });

  it('does not stop set-up, nor a verification by a short secret (N15)', async () => {
    vi.stubEnv('NODE_ENV', 'production');
    createVerifier({ secret: 'short', logger });
    const receiver = createReceiver({ secret: () => 'short', logger }, () => undefined);
    expect(await receiver.receive(deliver({ secret: 'short' }), {})).toMatchObject({ status: 200 });
  });
});

it('a short secret from a function is warned of once, whatever a stranger sends (N16)', async () => {
  vi.stubEnv('NODE_ENV', 'production');
  const logger = { warn: vi.fn(), error: vi.fn() };
  const receiver = createReceiver({ secret: () => ['short', 'other'], logger }, () => undefined);
  for (let request = 0; request < 200; request++) {
    await receiver.receive(deliver({ extra: { 'x-service-signature': '0'.repeat(64) } }), {});
  }
  expect(logger.warn.mock.calls).toEqual([
    ['[paylink] secret[0] is under 16 bytes, so it could be guessed'],
    ['[paylink] secret[1] is under 16 bytes, so it could be guessed'],
  ]);
});

it.each([null, {}, { warn: () => undefined }, { error: () => undefined }, { warn: 'no', error: 'no' }, 7])(
  'refuses %j as a logger',
  (logger) => {
    for (const make of [
      () => createVerifier({ secret, logger: logger as never }),
      () => createReceiver({ secret, logger: logger as never }, () => undefined),
      () => createReceiver({ secret, logger: logger as never }),
      () => createDispatcher({ logger: logger as never }, () => undefined),
    ]) {
      expect(make).toThrow('logger must have the functions `warn` and `error`');
    }
  },
);
