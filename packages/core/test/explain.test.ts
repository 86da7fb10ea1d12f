import { createHmac } from 'node:crypto';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createReceiver, type Delivery } from '../src/index.js';

const SECRET = 'a-secret-for-what-is-explained';

afterEach(() => {
  vi.unstubAllEnvs();
  vi.useRealTimers();
});

function signed(body: string, sent = body, secret = SECRET): Delivery {
  const headers: Record<string, string> = {
    'x-service-event': 'payment.succeeded',
    'x-service-signature': createHmac('sha256', secret).update(body).digest('hex'),
  };
  return { header: (name) => headers[name], body: async () => Buffer.from(sent) };
}

function receiverWith(logger: { warn: (line: string) => void; error: (line: string) => void }) {
  return createReceiver({ secret: SECRET, logger }, () => undefined);
}

const reserialised = signed('{"reference": "order-42"}', '{"reference":"order-42"}');

describe('the explanation of a signature that does not match', () => {
  it('says outside of production what changed the body, once, and quotes neither body nor secret nor signature', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    const warn = vi.fn<(line: string) => void>();
    const receiver = receiverWith({ warn, error: vi.fn() });
    for (let time = 0; time < 3; time++) {
      expect((await receiver.receive(reserialised, {})).status).toBe(401);
      await vi.waitFor(() => {
        expect(warn).toHaveBeenCalledTimes(2);
      });
      vi.advanceTimersByTime(2_000);
    }
    const [refusal, explanation] = warn.mock.calls.flat();
    expect(refusal).toContain('401 invalid_signature');
    expect(explanation).toMatch(/^\[paylink\] why the signature does not match: .*JSON parser.*raw body/);
    for (const line of [refusal, explanation]) {
      for (const quoted of [SECRET, 'order-42', reserialised.header('x-service-signature')!]) expect(line).not.toContain(quoted);
    }
  });

  it('tells another cause as well, by the secret that a function gives', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    const warn = vi.fn<(line: string) => void>();
    const receiver = createReceiver({ secret: () => SECRET, logger: { warn, error: vi.fn() } }, () => undefined);
    await receiver.receive(reserialised, {});
    await vi.waitFor(() => {
      expect(warn.mock.calls.flat().join('\n')).toContain('JSON parser');
    });
    vi.advanceTimersByTime(2_000);
    await receiver.receive(signed('{"reference":"a"}', '{"reference":"a"}', `${SECRET}\n`), {});
    await vi.waitFor(() => {
      expect(warn.mock.calls.flat().join('\n')).toContain('line break at one end');
    });
  });

  it('works at it once a second at most, since it costs much and a stranger can ask for it', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    const secret = vi.fn(() => SECRET);
    const receiver = createReceiver({ secret, logger: { warn: vi.fn(), error: vi.fn() } }, () => undefined);
    for (let time = 0; time < 20; time++) await receiver.receive(reserialised, {});
    // Once for each delivery, and once more for the explanation.
    await vi.waitFor(() => {
      expect(secret).toHaveBeenCalledTimes(21);
    });
  });

  it('J12 is silent in production', async () => {
    vi.stubEnv('NODE_ENV', 'production');
    const logger = { warn: vi.fn(), error: vi.fn() };
    const receiver = receiverWith(logger);
    await receiver.receive(reserialised, {});
    // As long as it takes outside of production: the module is loaded, and one turn more.
    await import('#diagnose');
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(logger.warn).not.toHaveBeenCalled();
    expect(logger.error).not.toHaveBeenCalled();
  });
});
