import { createHmac } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { diagnoseMismatch, logCause } from '../../src/diagnosis/automatic.js';
import type { Refused } from '../../src/diagnosis/explain.js';

const secret = 'a-secret-for-what-is-explained';
const signed = (body: string, key = secret): string =>
  createHmac('sha256', key).update(body).digest('hex');
const bytes = (text: string): Uint8Array => Buffer.from(text);
const withNewline = { rawBody: bytes('{"a":1}\n'), signature: signed('{"a":1}'), secret };
const twoFaults = { ...withNewline, signature: signed('{"a":1}').toUpperCase() };
const right = { ...withNewline, rawBody: bytes('{"a":1}') };

/** Milliseconds that were waited for, one after the other. Nothing is really waited for. */
let rests: number[];
let timers: { readonly unref: () => void }[];

beforeEach(() => {
  rests = [];
  timers = [];
  vi.spyOn(globalThis, 'setTimeout').mockImplementation(((
    run: () => void,
    milliseconds: number,
  ) => {
    rests.push(milliseconds);
    queueMicrotask(run);
    const timer = { unref: vi.fn() };
    timers.push(timer);
    return timer;
  }) as unknown as typeof setTimeout);
  vi.useFakeTimers({ toFake: ['performance'] });
});
afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
  vi.useRealTimers();
});

async function logged(refused: Omit<Refused, 'at'>, before = new Set<string>()): Promise<string[]> {
  const logger = { warn: vi.fn<(line: string) => void>(), error: vi.fn() };
  await logCause({ ...refused, at: new Date('2026-11-01T10:20:30.456Z') }, logger, before);
  expect(logger.error).not.toHaveBeenCalled();
  return logger.warn.mock.calls.map(([line]) => line);
}

describe('the diagnosis of a receiver', () => {
  it('logs each cause once, and several of one delivery in one line', async () => {
    const before = new Set<string>();
    expect(await logged(withNewline, before)).toEqual([
      expect.stringContaining(
        '[paylink] the signature of the delivery of 8 bytes at 10:20:30.456 UTC ' +
          'does not match. Whitespace or a line break at the start',
      ),
    ]);
    expect(await logged(withNewline, before)).toEqual([]);
    const [line, ...others] = await logged(twoFaults, before);
    expect(others).toEqual([]);
    expect(line).toMatch(
      /not match\. The signature is in upper-case hex, .* nothing else\. Whitespace/,
    );
    expect([...before]).toEqual(['body_newline', 'signature_uppercase,body_newline']);
  });

  it('logs nothing about a signature that matches, or about a signed probe of doctor', async () => {
    const before = new Set<string>();
    expect(await logged(right, before)).toEqual([]);
    const probe = { ...right, signature: signed('{"a":1}\npaylink doctor probe') };
    expect(await logged(probe, before)).toEqual([]);
    expect(before.size).toBe(0);
  });

  it('keeps room for other causes, however a stranger spells the header', async () => {
    const before = new Set<string>();
    const hex = signed('forged');
    const forms = [
      hex.toUpperCase(),
      hex.slice(1),
      `${hex}0`,
      Buffer.from(hex, 'hex').toString('base64'),
    ];
    const marked = forms.flatMap((form) => [
      form,
      `sha256=${form}`,
      `"${form}"`,
      `"sha256=${form}"`,
    ]);
    const spellings = marked.flatMap((form) => [form, ` ${form}`]);
    for (const signature of spellings) await logged({ signature }, before);
    expect(before.size).toBeLessThan(12);
    expect(await logged(withNewline, before)).toHaveLength(1);
  });

  it('logs nothing once NODE_ENV is production', async () => {
    vi.stubEnv('NODE_ENV', 'production');
    expect(await logged(withNewline)).toEqual([]);
  });

  it('rests before and after its work, and keeps no process alive', async () => {
    expect(await logged(withNewline)).toHaveLength(1);
    expect(rests).toEqual([30, 30]);
    for (const { unref } of timers) expect(unref).toHaveBeenCalledOnce();
    // Timers are numbers in Workers.
    vi.mocked(setTimeout).mockImplementation(((run: () => void) => {
      queueMicrotask(run);
      return 7;
    }) as unknown as typeof setTimeout);
    expect(await logged(withNewline)).toHaveLength(1);
  });

  it('rests sixty times as long as it works, at most half a second', async () => {
    let now = 0;
    const step = vi.spyOn(performance, 'now').mockImplementation(() => (now += 2));
    await diagnoseMismatch(withNewline);
    expect(new Set(rests.slice(0, -1))).toEqual(new Set([120]));
    rests = [];
    step.mockImplementation(() => (now += 1_000));
    await diagnoseMismatch(withNewline);
    expect(new Set(rests.slice(0, -1))).toEqual(new Set([500]));
  });

  it.each([
    [65_536, 'body_newline'],
    [65_537, 'body_too_complex'],
  ])('tries a body of %i bytes as a text: %s', async (length, cause) => {
    const rawBody = 'x'.padStart(length);
    const diagnosis = await diagnoseMismatch({ rawBody, signature: signed('x'), secret });
    expect(diagnosis).toMatchObject({ cause });
  });

  it.each([
    [64, 1, 'body_reserialized'],
    [65, 1, 'body_too_complex'],
    [1, 4_088, 'body_reserialized'],
    [1, 4_089, 'body_too_complex'],
  ])(
    'tries other writings of JSON nested %i deep with a text of %i: %s',
    async (depth, length, cause) => {
      const rawBody = `${'['.repeat(depth - 1)}{"a":"${'x'.repeat(length)}"}${']'.repeat(depth - 1)}`;
      const signature = signed(rawBody.replace(':', ': '));
      expect(await diagnoseMismatch({ rawBody, signature, secret })).toMatchObject({ cause });
    },
  );
});
