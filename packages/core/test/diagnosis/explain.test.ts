import { createHmac } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createExplainer } from '../../src/diagnosis/explain.js';
import { createReceiver, type Delivery } from '../../src/index.js';
import type { SecretOption } from '../../src/secret.js';
import { createLog } from '../deliver.js';

const SECRET = 'a-secret-for-a-diagnosis';
const hmac = (body: string, secret = SECRET) =>
  createHmac('sha256', secret).update(body).digest('hex');

function delivering(body: string, signature: string | undefined): Delivery {
  const headers: Record<string, string | undefined> = {
    'x-service-event': 'payment.succeeded',
    'x-service-signature': signature,
  };
  return { header: (name) => headers[name], body: async () => Buffer.from(body) };
}

function receiving(secret: SecretOption = SECRET) {
  const log = createLog();
  const receiver = createReceiver({ secret, logger: log }, () => undefined);
  const explained = (): string[] =>
    log.warn.mock.calls
      .map(([line]) => line)
      .filter((line) => line.includes('] the signature of a delivery'));
  return {
    log,
    explained,
    receive: async (delivery: Delivery) => (await receiver.receive(delivery, {})).status,
  };
}

type Receiving = Pick<ReturnType<typeof receiving>, 'receive' | 'explained'>;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] });
});
afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
  vi.useRealTimers();
});

const reserialised = delivering('{"reference":"order-42"}', hmac('{"reference": "order-42"}'));
const withNewline = delivering('{"reference":"a"}', hmac('{"reference":"a"}', `${SECRET}\n`));

/** Moves no clock, unlike vi.waitFor. */
async function until(explained: () => string[], causes: number): Promise<void> {
  while (explained().length < causes) await new Promise(setImmediate);
  expect(explained()).toHaveLength(causes);
}

/** Sends the delivery again and again until so many causes are in the log. */
async function explains(receiving: Receiving, delivery: Delivery, causes: number): Promise<void> {
  do {
    expect(await receiving.receive(delivery)).toBe(401);
    await new Promise(setImmediate);
  } while (receiving.explained().length < causes);
  expect(receiving.explained()).toHaveLength(causes);
}

describe('outside production, the log', () => {
  it('gives the cause of a mismatch, once per cause, with the length of the body', async () => {
    const receiver = receiving();
    await explains(receiver, reserialised, 1);
    for (let time = 0; time < 3; time++) await explains(receiver, reserialised, 1);
    await explains(receiver, withNewline, 2);
    const [first, second] = receiver.explained();
    expect(first).toMatch(
      /^\[paylink\] the signature of a delivery of 24 bytes does not match\. .*JSON parser/,
    );
    expect(second).toMatch(/a delivery of 17 bytes .*line break in the secret/);
    const { calls, lastCall } = receiver.log.warn.mock;
    expect(lastCall![1]).toEqual({ code: 'invalid_signature', status: 401 });
    for (const hidden of [SECRET, 'order-42', reserialised.header('x-service-signature')!]) {
      expect(JSON.stringify(calls)).not.toContain(hidden);
    }
  });

  it('uses the answer of the secret function, without a second call', async () => {
    const provide = vi.fn(() => ({ secret: SECRET, tenant: 'acme' }));
    const { explained, receive } = receiving(provide);
    await receive(withNewline);
    await until(explained, 1);
    expect(provide).toHaveBeenCalledOnce();
  });

  it('names the fault in the form of a signature, without reading the body', async () => {
    const receiver = receiving(() => Promise.reject(new Error('is not called')));
    const body = (): Promise<never> => Promise.reject(new Error('is not read'));
    const right = hmac('{}');
    const forms = [undefined, `sha256=${right}`, right.toUpperCase()];
    for (const [index, sent] of forms.entries()) {
      await explains(receiver, { ...delivering('', sent), body }, index + 1);
    }
    expect(receiver.explained()).toEqual([
      expect.stringMatching(
        /^\[paylink\] the signature of a delivery does not match\. The signature is missing/,
      ),
      expect.stringContaining('a prefix such as "sha256="'),
      expect.stringContaining('upper-case hex'),
    ]);
  });

  it('has no line about a signature that matches', async () => {
    const receiver = receiving(['another-secret', SECRET]);
    expect(await receiver.receive(delivering('[]', hmac('[]')))).toBe(400);
    await explains(receiver, reserialised, 1);
    expect(receiver.explained()[0]).toContain('JSON parser');
  });
});

describe('a diagnosis', () => {
  it('does not exist in production', { tags: 'J12' }, () => {
    vi.stubEnv('NODE_ENV', 'production');
    expect(createExplainer(createLog())).toBeUndefined();
  });

  it('may fail, as in a bundle without its module, and rejects nothing', async () => {
    const warn = vi.fn(() => {
      throw new Error('no such module');
    });
    createExplainer({ warn, error: warn })!({ signature: undefined });
    while (warn.mock.calls.length === 0) await new Promise(setImmediate);
    await new Promise(setImmediate); // Node reports a rejection then.
  });

  it(
    'rests a thousand times as long as it lasted, and takes no body of more than 4,096 bytes',
    { tags: 'N14' },
    async () => {
      const later = setTimeout;
      // Each turn of a diagnosis takes 20 ms.
      const turns = vi.spyOn(globalThis, 'setTimeout').mockImplementation((turn, wait) => {
        if (wait === 0) vi.advanceTimersByTime(20);
        return later(turn, wait);
      });
      const { explained, receive } = receiving();
      const long = `{"reference":"${'x'.repeat(4_096)}"}`;
      expect(await receive(delivering(long, hmac(`${long}\n`)))).toBe(401);
      for (let time = 0; time < 50; time++) await receive(reserialised);
      await until(explained, 1);
      expect(explained()[0]).toContain('too long to try every change');
      vi.advanceTimersByTime(19_999);
      for (let time = 0; time < 50; time++) await receive(reserialised);
      expect(turns.mock.calls.filter(([, wait]) => wait === 0)).toHaveLength(1);
      vi.advanceTimersByTime(1);
      await receive(reserialised);
      await until(explained, 2);
    },
  );
});
