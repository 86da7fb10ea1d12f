import { createHmac } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { diagnoseMismatch, logCause } from '../../src/diagnosis/automatic.js';
import type { DiagnoseOptions } from '../../src/diagnosis/search.js';

const secret = 'a-secret-for-what-is-explained';
const signed = (body: string, key = secret): string => createHmac('sha256', key).update(body).digest('hex');
const withNewline: DiagnoseOptions = { rawBody: '{"a":1}\n', signature: signed('{"a":1}'), secret };
const twoFaults: DiagnoseOptions = { ...withNewline, signature: signed('{"a":1}').toUpperCase() };
const right: DiagnoseOptions = { ...withNewline, rawBody: '{"a":1}' };

/** Milliseconds that were waited for, one after the other. Nothing is really waited for. */
let rests: number[];
let timers: { readonly unref: () => void }[];

beforeEach(() => {
  rests = [];
  timers = [];
  vi.spyOn(globalThis, 'setTimeout').mockImplementation(((run: () => void, milliseconds: number) => {
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

async function logged(options: DiagnoseOptions, before = new Set<string>()): Promise<string[]> {
  const logger = { warn: vi.fn<(line: string) => void>(), error: vi.fn() };
  await logCause(options, logger, before);
  expect(logger.error).not.toHaveBeenCalled();
  return logger.warn.mock.calls.flat();
}

describe('the diagnosis of a receiver', () => {
  it('logs each cause once, and several of one delivery in one line', async () => {
    const before = new Set<string>();
    expect(await logged(withNewline, before)).toEqual([
      expect.stringMatching(/^\[paylink\] why the signature does not match: Whitespace or a line break at the start/),
    ]);
    expect(await logged(withNewline, before)).toEqual([]);
    const [line, ...others] = await logged(twoFaults, before);
    expect(others).toEqual([]);
    expect(line).toMatch(
      /^\[paylink\] why the signature does not match: The signature is in upper-case hex: .* accepted\. Whitespace/,
    );
    expect([...before]).toEqual(['body_newline', 'signature_uppercase,body_newline']);
  });

  it('logs nothing of a signature that matches', async () => {
    const before = new Set<string>();
    expect(await logged(right, before)).toEqual([]);
    expect(before.size).toBe(0);
  });

  it('logs 32 causes at most: more than a stranger can bring about', async () => {
    const so = (many: number): Set<string> => new Set(Array.from({ length: many }, (_, index) => `cause-${index}`));
    expect(await logged(withNewline, so(32))).toEqual([]);
    expect(await logged(withNewline, so(31))).toHaveLength(1);
  });

  it('logs nothing where this has become production meanwhile', async () => {
    vi.stubEnv('NODE_ENV', 'production');
    expect(await logged(withNewline)).toEqual([]);
  });

  it('rests before it begins and when it is done, and keeps no process alive', async () => {
    expect(await diagnoseMismatch(withNewline)).toMatchObject({ cause: 'body_newline' });
    expect(rests).toEqual([30, 30]);
    for (const { unref } of timers) expect(unref).toHaveBeenCalledOnce();
  });

  it('rests sixty times as long as it has worked, half a second at most', async () => {
    let now = 0;
    const step = vi.spyOn(performance, 'now').mockImplementation(() => (now += 2));
    await diagnoseMismatch(withNewline);
    expect(new Set(rests.slice(1, -1))).toEqual(new Set([120]));
    rests = [];
    step.mockImplementation(() => (now += 1_000));
    await diagnoseMismatch(withNewline);
    expect(new Set(rests.slice(1, -1))).toEqual(new Set([500]));
  });

  it.each<readonly [what: string, body: string, cause: string]>([
    ['decodes 65,536 bytes', `${' '.repeat(65_535)}x`, 'body_newline'],
    ['does not hash 65,537', `${' '.repeat(65_536)}x`, 'body_too_complex'],
  ])('%s', async (_, rawBody, cause) => {
    expect(await diagnoseMismatch({ rawBody, signature: signed('x'), secret })).toMatchObject({ cause });
  });

  it.each<readonly [what: string, depth: number, length: number, cause: string]>([
    ['writes again what is nested 64 deep', 64, 0, 'body_reserialized'],
    ['and not deeper', 65, 0, 'body_too_complex'],
    ['writes again 8,192 bytes', 1, 8_184, 'body_reserialized'],
    ['and no more', 1, 8_185, 'body_too_complex'],
  ])('%s', async (_, depth, length, cause) => {
    const [open, close] = ['['.repeat(depth - 1), ']'.repeat(depth - 1)];
    const rawBody = `${open}{"a":"${'x'.repeat(length)}"}${close}`;
    const asPython = rawBody.replace(':', ': ');
    expect(await diagnoseMismatch({ rawBody, signature: signed(asPython), secret })).toMatchObject({ cause });
  });
});
