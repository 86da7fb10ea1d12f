import { createHmac } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { DiagnoseOptions } from '../src/diagnose.js';
import type { Delivery, SecretOption } from '../src/index.js';

const SECRET = 'a-secret-for-what-is-explained';

beforeEach(() => {
  // All receivers of a process share the time between two diagnoses: each test begins with a process of its own.
  vi.resetModules();
  vi.useFakeTimers({ toFake: ['performance'] });
});

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

async function receiving(secret: SecretOption = SECRET) {
  const { createReceiver } = await import('../src/index.js');
  const warn = vi.fn<(line: string) => void>();
  const error = vi.fn<(line: string) => void>();
  const receiver = createReceiver({ secret, logger: { warn, error } }, () => undefined);
  const log = (): string => [...warn.mock.calls, ...error.mock.calls].flat().join('\n');
  return { warn, log, receive: async (delivery: Delivery) => (await receiver.receive(delivery, {})).status };
}

// WebCrypto answers from other threads, which a busy machine lets wait.
// A diagnosis rests sixty times as long as it works, so a busy machine stretches it: the wait is for the line, not for a time.
const LONG = { timeout: 25_000 };
const reserialised = signed('{"reference": "order-42"}', '{"reference":"order-42"}');
const withNewline = signed('{"reference":"a"}', '{"reference":"a"}', `${SECRET}\n`);

describe('the explanation of a signature that does not match', { timeout: 30_000 }, () => {
  it('says outside of production what changed the body, once, and quotes neither body nor secret nor signature', async () => {
    const { warn, receive } = await receiving();
    for (let time = 0; time < 3; time++) {
      expect(await receive(reserialised)).toBe(401);
      await vi.waitFor(() => {
        expect(warn).toHaveBeenCalledTimes(2);
      }, LONG);
      vi.advanceTimersByTime(2_000);
    }
    const [refusal, explanation] = warn.mock.calls.flat();
    expect(refusal).toContain('401 invalid_signature');
    expect(explanation).toMatch(/^\[paylink\] why the signature does not match: .*JSON parser.*raw body/);
    for (const line of [refusal, explanation]) {
      for (const quoted of [SECRET, 'order-42', reserialised.header('x-service-signature')!]) expect(line).not.toContain(quoted);
    }
  });

  it('explains another cause as well, by the secret that a function gave, which is not asked again', async () => {
    const secret = vi.fn(() => SECRET);
    const { log, receive } = await receiving(secret);
    await receive(reserialised);
    await vi.waitFor(() => {
      expect(log()).toContain('JSON parser');
    }, LONG);
    // Both are real: the rest behind a diagnosis, and the second between two.
    await new Promise((resolve) => setTimeout(resolve, 100));
    vi.advanceTimersByTime(2_000);
    await receive(withNewline);
    await vi.waitFor(() => {
      expect(log()).toContain('line break at one end');
    }, LONG);
    expect(secret).toHaveBeenCalledTimes(2);
  });

  it('says what is wrong with the form of a signature, once for each, without the body and however quickly they come', async () => {
    const { log, receive } = await receiving(() => Promise.reject(new Error('is not asked')));
    const right = reserialised.header('x-service-signature')!;
    const cases: readonly [string | undefined, string][] = [
      [undefined, 'There is no signature'],
      [`sha256=${right}`, 'a prefix such as "sha256="'],
      [right.toUpperCase(), 'upper-case hex'],
      [Buffer.from(right, 'hex').toString('base64'), 'in base64'],
      [`${right}, ${right}`, 'more than one signature'],
      [right.slice(0, 40), 'the length of another hash'],
    ];
    for (const [sent, said] of cases) {
      const header = (name: string): string | undefined => (name === 'x-service-signature' ? sent : reserialised.header(name));
      const body = (): Promise<never> => Promise.reject(new Error('is not read'));
      expect(await receive({ header, body })).toBe(401);
      await vi.waitFor(() => {
        expect(log()).toContain(said);
      }, LONG);
      await new Promise((resolve) => setTimeout(resolve, 0));
      vi.advanceTimersByTime(20);
    }
    expect(log()).not.toContain(right);
    expect(log().match(/why the signature does not match/g)).toHaveLength(cases.length);
  });

  it('is not sought for what is signed right and refused for something else', async () => {
    const { log, receive } = await receiving();
    expect(await receive(signed('[]'))).toBe(400);
    // At the same time: a diagnosis before it would have taken its turn.
    await receive(reserialised);
    await vi.waitFor(() => {
      expect(log()).toContain('JSON parser');
    }, LONG);
  });

  it('diagnoses one request a second, of all receivers together', async () => {
    const first = await receiving();
    const second = await receiving();
    await first.receive(reserialised);
    for (let time = 0; time < 20; time++) await second.receive(withNewline);
    await vi.waitFor(() => {
      expect(first.log()).toContain('JSON parser');
    }, LONG);
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(second.log()).not.toContain('why');
  });

  it('begins when the reply has gone out (N14)', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout'] });
    const { log, receive } = await receiving();
    expect(await receive(reserialised)).toBe(401);
    await import('#diagnose');
    await vi.advanceTimersByTimeAsync(0);
    expect(log()).not.toContain('why');
    await vi.waitFor(() => {
      vi.advanceTimersByTime(100);
      expect(log()).toContain('JSON parser');
    }, LONG);
  });

  it('says that a fixture signed with the secret of @paylink/testing', async () => {
    const { log, receive } = await receiving();
    const { signedDelivery } = await import('@paylink/testing');
    const { headers, rawBody } = signedDelivery();
    await receive({ header: (name) => headers[name], body: async () => rawBody });
    await vi.waitFor(() => {
      expect(log()).toContain('TEST_SECRET');
    }, LONG);
  });

  it('is silent in production (J12)', async () => {
    vi.stubEnv('NODE_ENV', 'production');
    const { log, receive } = await receiving();
    await receive(reserialised);
    // Longer than it takes outside of production.
    await import('#diagnose');
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(log()).toBe('');
  });
});

/** With diagnoses that end when they are told to. */
async function explaining(secret: SecretOption) {
  const ends: { readonly given: DiagnoseOptions; readonly end: (failure?: Error) => Promise<void> }[] = [];
  const logCause = vi.fn(
    (given: DiagnoseOptions) =>
      new Promise<void>((resolve, reject) => {
        const end = async (failure?: Error): Promise<void> => {
          if (failure === undefined) resolve();
          else reject(failure);
          // What stands behind a diagnosis is over in a later turn.
          await new Promise((later) => setImmediate(later));
        };
        ends.push({ given, end });
      }),
  );
  vi.doMock('#diagnose', () => ({ logCause }));
  const { createExplainer } = await import('../src/explainer.js');
  const explainer = createExplainer(secret, { warn: vi.fn(), error: vi.fn() });
  /** Whether a diagnosis has begun. */
  const explain = async (host: unknown = {}): Promise<boolean> => {
    const before = logCause.mock.calls.length;
    explainer.explain!(Buffer.from('{}'), 'a-signature', host);
    await import('#diagnose');
    await new Promise((later) => setImmediate(later));
    return logCause.mock.calls.length > before;
  };
  return { explainer, explain, ends };
}

describe('a diagnosis behind a reply', () => {
  afterEach(() => {
    vi.doUnmock('#diagnose');
  });

  it('is given what was received and the secret', async () => {
    const { explain, ends } = await explaining(SECRET);
    expect(await explain()).toBe(true);
    expect(ends[0]!.given).toEqual({ rawBody: Buffer.from('{}'), signature: 'a-signature', secret: SECRET });
  });

  it('is not there in production, where nothing is kept of the secret', async () => {
    vi.stubEnv('NODE_ENV', 'production');
    const secret = (): string => SECRET;
    const { explainer } = await explaining(secret);
    expect(explainer).toEqual({ secret });
    expect(explainer.secret).toBe(secret);
  });

  it('begins a second after the one before it has ended, and no earlier', async () => {
    const { explain, ends } = await explaining(SECRET);
    expect(await explain()).toBe(true);
    vi.advanceTimersByTime(5_000);
    expect(await explain()).toBe(false);
    await ends[0]!.end();
    vi.advanceTimersByTime(999);
    expect(await explain()).toBe(false);
    vi.advanceTimersByTime(1);
    expect(await explain()).toBe(true);
  });

  it('begins 20 ms after the one before it where the form of the signature is wrong, and holds up no other', async () => {
    const { explainer, explain, ends } = await explaining(SECRET);
    const ofTheForm = async (): Promise<number> => {
      explainer.explain!(undefined, 'a-signature', {});
      await import('#diagnose');
      await new Promise((later) => setImmediate(later));
      return ends.length;
    };
    expect(await ofTheForm()).toBe(1);
    await ends[0]!.end();
    vi.advanceTimersByTime(19);
    expect(await ofTheForm()).toBe(1);
    vi.advanceTimersByTime(1);
    expect(await ofTheForm()).toBe(2);
    expect(await explain()).toBe(true);
  });

  it('begins a second after one that failed, too', async () => {
    const { explain, ends } = await explaining(SECRET);
    await explain();
    await ends[0]!.end(new Error('no'));
    expect(await explain()).toBe(false);
    vi.advanceTimersByTime(1_000);
    expect(await explain()).toBe(true);
  });

  it('is given up after a minute, since some runtimes drop what a request has left behind', async () => {
    const { explain } = await explaining(SECRET);
    await explain();
    vi.advanceTimersByTime(59_999);
    expect(await explain()).toBe(false);
    vi.advanceTimersByTime(1);
    expect(await explain()).toBe(true);
  });

  it('has the secret that a function gave for this request, and none where it gave none', async () => {
    const { explainer, explain, ends } = await explaining((host) => `the-secret-of-${(host as { tenant: string }).tenant}`);
    const [acme, bolt] = [{ tenant: 'acme' }, { tenant: 'bolt' }];
    const secret = explainer.secret as (host: unknown) => Promise<string>;
    expect(await secret(acme)).toBe('the-secret-of-acme');
    expect(await explain(bolt)).toBe(false);
    expect(await explain(acme)).toBe(true);
    expect(ends[0]!.given.secret).toBe('the-secret-of-acme');
  });
});
