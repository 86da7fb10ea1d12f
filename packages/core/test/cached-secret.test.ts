import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { cachedSecret, createReceiver, type SecretList } from '../src/index.js';
import { deliver, received } from './deliver.js';

const SECRETS: Readonly<Record<string, string>> = { acme: 'the-webhook-secret-of-acme', bolt: 'the-webhook-secret-of-bolt' };
interface Host {
  readonly tenant: string;
}
const key = ({ tenant }: Host): string => tenant;
const logger = { warn: vi.fn(), error: vi.fn() };

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
});
afterEach(() => {
  vi.useRealTimers();
  vi.clearAllMocks();
});

describe('cachedSecret', () => {
  it('asks a slow function once for each of two merchants under 400 requests at once (N17)', async () => {
    const answers: (() => void)[] = [];
    const load = vi.fn(({ tenant }: Host) => new Promise<SecretList>((resolve) => answers.push(() => resolve(SECRETS[tenant]))));
    const receiver = createReceiver({ secret: cachedSecret(load, { key, ttl: 60_000 }), logger }, () => undefined);
    const asked = Array.from({ length: 400 }, (_, index) => {
      const tenant = index % 2 === 0 ? 'acme' : 'bolt';
      // Every fourth is genuine, the others are signed with the other merchant's secret.
      const signer = index % 4 < 2 ? tenant : tenant === 'acme' ? 'bolt' : 'acme';
      return receiver.receive(deliver({ secret: SECRETS[signer] }), { tenant });
    });
    await vi.waitUntil(() => answers.length === 2, 10_000);
    for (const answer of answers) answer();
    const statuses = (await Promise.all(asked)).map(({ status }) => status);
    expect(statuses).toEqual(statuses.map((_, index) => (index % 4 < 2 ? 200 : 401)));
    expect(load.mock.calls).toEqual([[{ tenant: 'acme' }], [{ tenant: 'bolt' }]]);
    expect(await receiver.receive(deliver({ secret: SECRETS['bolt'] }), { tenant: 'bolt' })).toMatchObject(received);
    expect(load).toHaveBeenCalledTimes(2);
  });

  it('a plain function is asked for each request: no answer is shared unless the merchant names the key', async () => {
    const secret = vi.fn(({ tenant }: Host) => Promise.resolve(SECRETS[tenant]));
    const receiver = createReceiver({ secret, logger }, () => undefined);
    await Promise.all(Array.from({ length: 3 }, () => receiver.receive(deliver({ secret: SECRETS['acme'] }), { tenant: 'acme' })));
    expect(secret).toHaveBeenCalledTimes(3);
  });

  it('asks again when the time is over, and not before', async () => {
    const load = vi.fn(() => SECRETS['acme']);
    const secret = cachedSecret(load, { key, ttl: 1_000 });
    await secret({ tenant: 'acme' });
    vi.advanceTimersByTime(999);
    expect(await secret({ tenant: 'acme' })).toBe(SECRETS['acme']);
    expect(load).toHaveBeenCalledOnce();
    vi.advanceTimersByTime(1);
    await secret({ tenant: 'acme' });
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
    ['gives an empty list', () => []],
    ['gives a placeholder', () => 'changeme'],
  ])('keeps nothing of a function that %s', async (_, fail) => {
    const load = vi
      .fn<() => SecretList>()
      .mockImplementationOnce(fail as () => SecretList)
      .mockReturnValue(SECRETS['acme']);
    const secret = cachedSecret(load, { key, ttl: 60_000 });
    const atOnce = [secret({ tenant: 'acme' }), secret({ tenant: 'acme' })];
    for (const answer of atOnce) await expect(answer).rejects.toThrow();
    expect(load).toHaveBeenCalledOnce();
    expect(await secret({ tenant: 'acme' })).toBe(SECRETS['acme']);
  });

  it('keeps an answer that has taken the place of one that fails later', async () => {
    let fail!: (error: Error) => void;
    const load = vi
      .fn<() => Promise<SecretList>>()
      .mockReturnValueOnce(new Promise((_, reject) => (fail = reject)))
      .mockResolvedValue(SECRETS['acme']);
    const secret = cachedSecret(load, { key, ttl: 1_000 });
    const late = secret({ tenant: 'acme' });
    vi.advanceTimersByTime(1_000);
    await secret({ tenant: 'acme' });
    fail(new Error('vault'));
    await expect(late).rejects.toThrow('vault');
    expect(await secret({ tenant: 'acme' })).toBe(SECRETS['acme']);
    expect(load).toHaveBeenCalledTimes(2);
  });

  it('gives a function up that hangs, and asks again', async () => {
    const load = vi
      .fn<() => Promise<SecretList>>()
      .mockReturnValueOnce(new Promise(() => undefined))
      .mockResolvedValue(SECRETS['acme']);
    const secret = cachedSecret(load, { key, ttl: 60_000 });
    const hanging = secret({ tenant: 'acme' });
    const expected = expect(hanging).rejects.toThrow('no answer in 5000 ms');
    await vi.advanceTimersByTimeAsync(5_000);
    await expected;
    expect(await secret({ tenant: 'acme' })).toBe(SECRETS['acme']);
  });

  it('asks again for an answer whose request was cancelled, and with it the timer that would give it up', async () => {
    const load = vi
      .fn<() => Promise<SecretList>>()
      .mockReturnValueOnce(new Promise(() => undefined))
      .mockResolvedValue(SECRETS['acme']);
    const secret = cachedSecret(load, { key, ttl: 60_000 });
    void secret({ tenant: 'acme' });
    vi.clearAllTimers();
    vi.advanceTimersByTime(4_999);
    void secret({ tenant: 'acme' });
    expect(load).toHaveBeenCalledOnce();
    vi.advanceTimersByTime(1);
    expect(await secret({ tenant: 'acme' })).toBe(SECRETS['acme']);
    vi.advanceTimersByTime(59_999);
    expect(await secret({ tenant: 'acme' })).toBe(SECRETS['acme']);
    expect(load).toHaveBeenCalledTimes(2);
  });

  it('is bounded: past 1,000 keys the oldest is asked for again', async () => {
    const load = vi.fn(({ tenant }: Host) => `the-secret-of-${tenant}`);
    const secret = cachedSecret(load, { key, ttl: 60_000 });
    for (let index = 0; index <= 1_000; index++) await secret({ tenant: `m${index}` });
    await secret({ tenant: 'm1000' });
    await secret({ tenant: 'm1' });
    expect(load).toHaveBeenCalledTimes(1_001);
    await secret({ tenant: 'm0' });
    expect(load).toHaveBeenCalledTimes(1_002);
  });

  it('keeps an answer that was renewed longer than those before it', async () => {
    const load = vi.fn(({ tenant }: Host) => `the-secret-of-${tenant}`);
    const secret = cachedSecret(load, { key, ttl: 1_000 });
    await secret({ tenant: 'm0' });
    vi.advanceTimersByTime(999);
    await secret({ tenant: 'm1' });
    vi.advanceTimersByTime(1);
    await secret({ tenant: 'm0' });
    for (let index = 2; index <= 1_000; index++) await secret({ tenant: `m${index}` });
    load.mockClear();
    await secret({ tenant: 'm0' });
    expect(load).not.toHaveBeenCalled();
  });

  it.each([undefined, '', 7, {}])('refuses %j as a key, which would be one secret for all', async (name) => {
    const load = vi.fn(() => SECRETS['acme']);
    const secret = cachedSecret(load, { key: () => name as string, ttl: 1_000 });
    await expect(secret({})).rejects.toThrow('key must give a string that is not empty');
    expect(load).not.toHaveBeenCalled();
  });

  it('names the option that is wrong', () => {
    const load = (): string => 'x';
    expect(() => cachedSecret('x' as never, { key, ttl: 1 })).toThrow(/^load must/);
    expect(() => cachedSecret(load, { ttl: 1 } as never)).toThrow(/^key must/);
    expect(() => cachedSecret(load, { key, TTL: 1 } as never)).toThrow(/^TTL is an unknown option/);
    for (const ttl of [undefined, 0, -1, 1.5, Number.NaN, 2 ** 31, '60']) {
      expect(() => cachedSecret(load, { key, ttl: ttl as number })).toThrow(/^ttl must/);
    }
  });
});
