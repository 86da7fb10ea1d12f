import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { cachedSecret, createReceiver } from '../src/index.js';
import type { TenantSecret } from '../src/secret.js';
import { createLog, deliver } from './deliver.js';

interface Host {
  readonly id: string;
}
const logger = createLog();
const key = ({ id }: Host): string => id;
const answerOf = (id: string): TenantSecret => ({
  secret: `the-webhook-secret-of-${id}`,
  tenant: id,
});
const [acme, at] = [answerOf('acme'), { id: 'acme' }];
const never = new Promise<never>(() => undefined);

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** Its first answer is `first`, and every later answer the secret of acme. */
function caching(first: () => unknown, ttl = 60_000) {
  const load = vi.fn(() => acme as never).mockImplementationOnce(first as () => never);
  return { load, secret: cachedSecret(load, { key, ttl }) };
}

describe('cachedSecret', () => {
  it(
    'asks a slow function once per merchant under 400 requests at once',
    { tags: 'N17' },
    async () => {
      const answers: (() => void)[] = [];
      const load = vi.fn(
        ({ id }: Host) =>
          new Promise<TenantSecret>((resolve) => answers.push(() => resolve(answerOf(id)))),
      );
      const secret = cachedSecret(load, { key, ttl: 60_000 });
      const receiver = createReceiver({ secret, logger }, () => undefined);
      const receiving = Array.from({ length: 400 }, (_, index) => {
        const id = index % 2 === 0 ? 'acme' : 'bolt';
        // Half of the deliveries are signed with the other merchant's secret.
        const signer = index % 4 < 2 ? id : id === 'acme' ? 'bolt' : 'acme';
        return receiver.receive(deliver({ secret: `the-webhook-secret-of-${signer}` }), { id });
      });
      await vi.waitUntil(() => answers.length === 2, 10_000);
      for (const answer of answers) answer();
      const statuses = (await Promise.all(receiving)).map(({ status }) => status);
      expect(statuses).toEqual(statuses.map((_, index) => (index % 4 < 2 ? 200 : 401)));
      expect(load.mock.calls).toEqual([[{ id: 'acme' }], [{ id: 'bolt' }]]);
    },
  );

  it('shares no answer with another cache that has the same key', async () => {
    const [{ secret }, other] = [caching(() => acme), caching(() => answerOf('bolt'))];
    expect(await secret(at)).toEqual(acme);
    expect(await other.secret(at)).toEqual(answerOf('bolt'));
  });

  it('asks again after the time, which begins with the question, and not before', async () => {
    const slow = () => new Promise((resolve) => setTimeout(resolve, 400, acme));
    const { load, secret } = caching(slow, 1_000);
    const asking = secret(at);
    await vi.advanceTimersByTimeAsync(400);
    await asking;
    vi.advanceTimersByTime(599);
    expect(await secret(at)).toBe(acme);
    expect(load).toHaveBeenCalledOnce();
    vi.advanceTimersByTime(1);
    await secret(at);
    expect(load).toHaveBeenCalledTimes(2);
  });

  it.each<readonly [string, () => unknown]>([
    [
      'throws',
      () => {
        throw new Error('vault');
      },
    ],
    ['rejects', () => Promise.reject(new Error('vault'))],
    ['gives nothing', () => undefined],
    ['gives no tenant', () => ({ secret: acme.secret })],
    ['gives an empty list', () => ({ secret: [], tenant: 'acme' })],
    ['gives a placeholder', () => ({ secret: 'changeme', tenant: 'acme' })],
  ])('does not keep the answer if the function %s', async (_what, fail) => {
    const { load, secret } = caching(fail);
    for (const answer of [secret(at), secret(at)]) await expect(answer).rejects.toThrow();
    expect(load).toHaveBeenCalledOnce();
    expect(await secret(at)).toBe(acme);
  });

  it('keeps a newer answer if an older one fails later', async () => {
    let fail!: (error: Error) => void;
    const { load, secret } = caching(
      () => new Promise((_resolve, reject) => (fail = reject)),
      1_000,
    );
    const late = secret(at);
    vi.advanceTimersByTime(1_000);
    await secret(at);
    fail(new Error('vault'));
    await expect(late).rejects.toThrow('vault');
    expect(await secret(at)).toBe(acme);
    expect(load).toHaveBeenCalledTimes(2);
  });

  it('gives up a function that hangs after 5 seconds, and asks again', async () => {
    const { secret } = caching(() => never);
    const hanging = expect(secret(at)).rejects.toThrow('no answer in 5000 ms');
    await vi.advanceTimersByTimeAsync(5_000);
    await hanging;
    expect(await secret(at)).toBe(acme);
  });

  it('asks again after 5 seconds if a cancelled request took its timers along', async () => {
    const { load, secret } = caching(() => never);
    void secret(at);
    vi.clearAllTimers();
    vi.advanceTimersByTime(4_999);
    void secret(at);
    expect(load).toHaveBeenCalledOnce();
    vi.advanceTimersByTime(1);
    expect(await secret(at)).toBe(acme);
    vi.advanceTimersByTime(59_999);
    expect(await secret(at)).toBe(acme);
    expect(load).toHaveBeenCalledTimes(2);
  });

  it('keeps 1,000 keys, and drops the key that was renewed longest ago', async () => {
    const load = vi.fn(({ id }: Host) => answerOf(id));
    const secret = cachedSecret(load, { key, ttl: 1_000 });
    await secret({ id: 'm0' });
    vi.advanceTimersByTime(999);
    await secret({ id: 'm1' });
    vi.advanceTimersByTime(1);
    await secret({ id: 'm0' });
    for (let index = 2; index <= 1_000; index++) await secret({ id: `m${index}` });
    load.mockClear();
    await secret({ id: 'm0' });
    expect(load).not.toHaveBeenCalled();
    await secret({ id: 'm1' });
    expect(load).toHaveBeenCalledOnce();
  });

  it.each([undefined, '', 7, {}])(
    'rejects the key %j, which all merchants would share',
    async (name) => {
      const load = vi.fn(() => acme);
      const secret = cachedSecret(load, { key: () => name as string, ttl: 1_000 });
      await expect(secret({})).rejects.toThrow('key must return a non-empty string');
      expect(load).not.toHaveBeenCalled();
    },
  );

  it('names an invalid option', () => {
    const load = () => acme;
    expect(() => cachedSecret('x' as never, { key, ttl: 1 })).toThrow(/^load must/);
    expect(() => cachedSecret(load, { ttl: 1 } as never)).toThrow(/^key must/);
    expect(() => cachedSecret(load, { key, TTL: 1 } as never)).toThrow(/^TTL is an unknown option/);
    for (const ttl of [undefined, 0, -1, 1.5, Number.NaN, 2 ** 31, '60']) {
      expect(() => cachedSecret(load, { key, ttl: ttl as number })).toThrow(/^ttl must/);
    }
  });
});
