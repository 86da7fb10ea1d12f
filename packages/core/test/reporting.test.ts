import { afterEach, describe, expect, it, vi } from 'vitest';
import { createReceiver, WebhookError, type DeliveryOutcome } from '../src/index.js';
import { deliver, secret } from './deliver.js';

const logger = { warn: vi.fn<(line: string) => void>(), error: vi.fn<(line: string) => void>() };

afterEach(() => {
  vi.clearAllMocks();
  vi.useRealTimers();
});

describe('the log of a failure', () => {
  it('quotes our own words on what a function gave for a secret, which never have the secret in them', async () => {
    await createReceiver({ secret: () => 'changeme', logger }, () => undefined).receive(deliver(), {});
    expect(logger.error).toHaveBeenCalledExactlyOnceWith(
      expect.stringContaining('failed (ConfigurationError: secret is a placeholder'),
    );
  });

  it('has only the name of what a function for the secret threw, since that can quote the secret', async () => {
    const fail = (): never => {
      throw new RangeError(`no merchant has ${secret}`);
    };
    await createReceiver({ secret: fail, logger }, () => undefined).receive(deliver(), {});
    expect(logger.error).toHaveBeenCalledExactlyOnceWith(
      '[paylink] 503 secret_unavailable: the function given as `secret` failed (RangeError). See docs/errors.md#secret_unavailable',
    );
  });

  it('has no cause where none is an Error', async () => {
    const confirm = { getPayment: () => Promise.reject<{ reference: string; status: string }>('down') };
    await createReceiver({ secret, confirm, logger }, () => undefined).receive(deliver(), {});
    expect(logger.error).toHaveBeenCalledExactlyOnceWith(
      '[paylink] 503 confirm_unavailable: the payment could not be read. See docs/errors.md#confirm_unavailable',
    );
  });

  it('has a line for a code of ours that a handler fails with, as an error, and none for one that it refuses with', async () => {
    const codes = ['handler_failed', 'invalid_payload', 'unknown_order'];
    const receiver = createReceiver({ secret, logger }, () => {
      throw new WebhookError(codes.shift()!);
    });
    for (let left = codes.length; left > 0; left--) await receiver.receive(deliver(), {});
    expect(logger.error.mock.calls).toEqual([['[paylink] 500 handler_failed: handler_failed. See docs/errors.md#handler_failed']]);
    expect(logger.warn).not.toHaveBeenCalled();
  });

  it('has what a handler threw that is no Error, since hosts print no cause', async () => {
    const throwing = createReceiver({ secret, logger }, () => {
      throw 'out of\n  memory';
    });
    await throwing.receive(deliver(), {}).catch(() => undefined);
    expect(logger.error).toHaveBeenCalledExactlyOnceWith(
      '[paylink] 500 handler_failed: out of memory. See docs/errors.md#handler_failed',
    );
  });

  it('has `body_consumed` once, also in production: it needs no right signature', async () => {
    vi.stubEnv('NODE_ENV', 'production');
    const receiver = createReceiver({ secret: 'a-secret-of-the-portal', logger }, () => undefined);
    const parsed = { ...deliver(), body: () => Promise.resolve({ reference: 'order-42' } as never) };
    for (let time = 0; time < 3; time++) expect(await receiver.receive(parsed, {})).toMatchObject({ status: 500 });
    vi.unstubAllEnvs();
    expect(logger.error).toHaveBeenCalledExactlyOnceWith(expect.stringContaining('500 body_consumed'));
  });

  it('leaves an Error of the handler to the host’s own log', async () => {
    const throwing = createReceiver({ secret, logger }, () => {
      throw new Error('no');
    });
    await throwing.receive(deliver(), {}).catch(() => undefined);
    expect(logger.error).not.toHaveBeenCalled();
    expect(logger.warn).not.toHaveBeenCalled();
  });
});

describe('what is observed', () => {
  it('has the time that the delivery took, in milliseconds', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    vi.advanceTimersByTime(1_000);
    const outcomes: DeliveryOutcome[] = [];
    const receiver = createReceiver({ secret, observe: (outcome) => outcomes.push(outcome) }, () => {
      vi.advanceTimersByTime(7);
    });
    await receiver.receive(deliver(), {});
    expect(outcomes).toMatchObject([{ outcome: 'handled', durationMs: 7 }]);
  });

  it('has the code of an Error that a handler threw: handler_failed, a fault of this side', async () => {
    const outcomes: DeliveryOutcome[] = [];
    const receiver = createReceiver({ secret, logger, observe: (outcome) => outcomes.push(outcome) }, () => {
      throw new Error('no');
    });
    await receiver.receive(deliver(), {}).catch(() => undefined);
    expect(outcomes).toMatchObject([{ outcome: 'failed', code: 'handler_failed' }]);
  });

  it('has no code where nothing was wrong', async () => {
    const outcomes: DeliveryOutcome[] = [];
    await createReceiver({ secret, observe: (outcome) => outcomes.push(outcome) }, () => undefined).receive(deliver(), {});
    expect(outcomes[0]).not.toHaveProperty('code');
  });

  it('counts a status under 500 as a refusal, also 499: no fault of this side, and no line that says so', async () => {
    const outcomes: DeliveryOutcome[] = [];
    const left = new WebhookError('incomplete_body', { status: 499 });
    const observe = (outcome: DeliveryOutcome) => outcomes.push(outcome);
    await createReceiver({ secret, logger, observe }, () => undefined).receive(deliver({ body: () => Promise.reject(left) }), {});
    expect(outcomes).toMatchObject([{ outcome: 'rejected', code: 'incomplete_body' }]);
    expect(logger.error).not.toHaveBeenCalled();
  });

  it('tells a fault of this side from a refusal of what was sent', async () => {
    const outcomes: DeliveryOutcome[] = [];
    const receiver = createReceiver({ secret, logger, observe: (outcome) => outcomes.push(outcome) }, () => undefined);
    const parsed = (): Promise<Uint8Array> => Promise.resolve({ reference: 'order-42' } as never);
    await receiver.receive(deliver({ body: parsed }), {});
    await receiver.receive(deliver({ rawBody: '[]' }), {});
    expect(outcomes.map(({ outcome, code }) => [outcome, code])).toEqual([
      ['failed', 'body_consumed'],
      ['rejected', 'invalid_payload'],
    ]);
  });
});
