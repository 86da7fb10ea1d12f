import { createHmac } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createExplainer, type Refused } from '../../src/diagnosis/explain.js';
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
      .filter((line) => line.includes('] the signature of the delivery'));
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
  vi.useRealTimers();
});

// A diagnosis rests sixty times as long as it works, so a busy machine stretches it.
const LONG = { timeout: 25_000 };
const reserialised = delivering('{"reference":"order-42"}', hmac('{"reference": "order-42"}'));
const withNewline = delivering('{"reference":"a"}', hmac('{"reference":"a"}', `${SECRET}\n`));

/** Sends the delivery again and again, a pause apart, until so many causes are in the log. */
function explains(receiving: Receiving, delivery: Delivery, causes: number): Promise<void> {
  return vi.waitFor(async () => {
    vi.advanceTimersByTime(1_000);
    expect(await receiving.receive(delivery)).toBe(401);
    expect(receiving.explained()).toHaveLength(causes);
  }, LONG);
}

describe('outside production, the log', () => {
  it('gives the cause of a mismatch, once per cause, and names the delivery', async () => {
    const receiver = receiving();
    await explains(receiver, reserialised, 1);
    for (let time = 0; time < 3; time++) await explains(receiver, reserialised, 1);
    await explains(receiver, withNewline, 2);
    const [first, second] = receiver.explained();
    expect(first).toMatch(
      /^\[paylink\] the signature of the delivery of 24 bytes at [\d:.]{12} UTC .*JSON parser/,
    );
    expect(second).toMatch(/the delivery of 17 bytes .*line break at one end of the secret/);
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
    await vi.waitFor(() => expect(explained()).toHaveLength(1), LONG);
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
        /^\[paylink\] the signature of the delivery at .*The signature is missing/,
      ),
      expect.stringContaining('a prefix such as "sha256="'),
      expect.stringContaining('upper-case hex'),
    ]);
  });

  it('explains neither a forged probe of doctor nor a signature that matches', async () => {
    const receiver = receiving(['another-secret', SECRET]);
    const body = '{"reference":"order-42"}';
    expect(await receiver.receive(delivering('[]', hmac('[]')))).toBe(400);
    await receiver.receive(delivering(body, hmac(`${body}\npaylink doctor probe`)));
    await explains(receiver, reserialised, 1);
    expect(receiver.explained()[0]).toContain('JSON parser');
  });
});

/** An explainer whose diagnoses end when the test ends them. */
async function explaining() {
  const ends: { readonly refused: Refused; readonly end: (failure?: Error) => Promise<void> }[] =
    [];
  const turn = () => new Promise<void>((resolve) => setImmediate(resolve));
  const logCause = (refused: Refused) =>
    new Promise<void>((resolve, reject) => {
      const end = (failure?: Error): Promise<void> => {
        if (failure === undefined) resolve();
        else reject(failure);
        return turn();
      };
      ends.push({ refused, end });
    });
  vi.resetModules();
  vi.doMock('#diagnose', () => ({ logCause }));
  const { createExplainer: create } = await import('../../src/diagnosis/explain.js');
  const explain = create(createLog())!;
  const begins = async (refused: Omit<Refused, 'at'>): Promise<boolean> => {
    const before = ends.length;
    explain(refused);
    await import('#diagnose');
    await turn();
    return ends.length > before;
  };
  return { begins, ends };
}

describe('a diagnosis', () => {
  const mismatch = { rawBody: Buffer.from('{}'), signature: 'a-signature', secret: SECRET };
  const shape = { signature: 'a-signature' };

  afterEach(() => {
    vi.doUnmock('#diagnose');
  });

  it('J12 does not exist in production', () => {
    vi.stubEnv('NODE_ENV', 'production');
    expect(createExplainer(createLog())).toBeUndefined();
  });

  it('gets the delivery, the secret and the time', async () => {
    const { begins, ends } = await explaining();
    expect(await begins(mismatch)).toBe(true);
    expect(ends[0]!.refused).toEqual({ ...mismatch, at: expect.any(Date) as Date });
  });

  it.each([undefined, new Error('no')])(
    'starts a second after the previous one ended: %s',
    async (failure) => {
      const { begins, ends } = await explaining();
      expect(await begins(mismatch)).toBe(true);
      vi.advanceTimersByTime(5_000);
      expect(await begins(mismatch)).toBe(false);
      await ends[0]!.end(failure);
      vi.advanceTimersByTime(999);
      expect(await begins(mismatch)).toBe(false);
      vi.advanceTimersByTime(1);
      expect(await begins(mismatch)).toBe(true);
    },
  );

  it('of a form starts 20 ms after the previous one, and delays no other', async () => {
    const { begins, ends } = await explaining();
    expect(await begins(shape)).toBe(true);
    await ends[0]!.end();
    vi.advanceTimersByTime(19);
    expect(await begins(shape)).toBe(false);
    vi.advanceTimersByTime(1);
    expect(await begins(shape)).toBe(true);
    expect(await begins(mismatch)).toBe(true);
  });

  it('gives up a diagnosis after a minute, because some runtimes drop work behind a reply', async () => {
    const { begins } = await explaining();
    await begins(mismatch);
    vi.advanceTimersByTime(59_999);
    expect(await begins(mismatch)).toBe(false);
    vi.advanceTimersByTime(1);
    expect(await begins(mismatch)).toBe(true);
  });
});
