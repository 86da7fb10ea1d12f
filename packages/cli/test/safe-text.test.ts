import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { Output } from '../src/terminal/output.js';
import { createPaint, wantsColor } from '../src/terminal/paint.js';
import { escapeText, safeJson, text, toSafe } from '../src/terminal/safe-text.js';

// Line breaks are the program's own.
const ACTED_ON = /(?!\n)[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;

// Any code point, with unpaired surrogates. fast-check's own generator takes seconds to set up.
const anyText = fc
  .array(fc.integer({ min: 0, max: 0x10ffff }))
  .map((points) => String.fromCodePoint(...points));

describe('text for a terminal', () => {
  it('has no control character for any input', () => {
    fc.assert(
      fc.property(anyText, (value) => {
        expect(escapeText(value)).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u);
      }),
    );
  });

  it.each([
    ['\u001b[31mred', String.raw`\x1b[31mred`],
    ['\u009b31m', String.raw`\x9b31m`],
    ['two\r\nlines\tand a tab', String.raw`two\x0d\x0alines\x09and a tab`],
    ['abc\u202ecba', String.raw`abc\u202ecba`],
    ['\ud800', String.raw`\ud800`],
    ['\u{e0041}', String.raw`\u{e0041}`],
    ['commande n° 42 – é 注文 🎉 C:\\x', 'commande n° 42 – é 注文 🎉 C:\\x'],
  ])('shows %j as %j', (value, shown) => expect(escapeText(value)).toBe(shown));

  it('keeps its own colours and escapes inserted text', () => {
    const { red } = createPaint(true);
    expect(text`paid ${red('a\u001b[0mb')}`.value).toBe('paid \u001b[31ma\\x1b[0mb\u001b[39m');
    // Counts terminal columns, so that tables align.
    expect(text`${red('🎉')}${'ab'}`.width).toBe(4);
    expect(text`${'注文'}${'e\u0301'}`.width).toBe(5);
    expect(toSafe(text`${'\u001b'}`).value).toBe('\\x1b');
  });

  it('in JSON has no control character and parses to the same value', () => {
    fc.assert(
      fc.property(fc.array(anyText), (value) => {
        const json = safeJson(value, 2);
        expect(json).not.toMatch(ACTED_ON);
        expect(JSON.parse(json)).toEqual(value);
      }),
    );
  });
});

describe('colours', () => {
  it.each([
    [true, {}, true],
    [false, {}, false],
    [false, { CI: 'true' }, false],
    [true, { TERM: 'dumb' }, false],
    [true, { NO_COLOR: '1' }, false],
    [true, { NO_COLOR: '' }, true],
    [false, { FORCE_COLOR: '1' }, true],
    [true, { FORCE_COLOR: '0' }, false],
    [false, { FORCE_COLOR: '1', NO_COLOR: '1' }, false],
  ])('depend on the terminal (%s) and on %j: %s', (isTTY, env, wanted) =>
    expect(wantsColor({ isTTY }, env)).toBe(wanted),
  );
});

it('hides a secret with characters that a terminal shows escaped', () => {
  const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  for (const secret of ['abc\tdefghij', 'abc\u00addefghij', 'abc\u200ddefghij']) {
    const output = new Output(false);
    output.hide(secret);
    output.line(`the server said ${secret}`);
  }
  const written = write.mock.calls.map(([line]) => line);
  write.mockRestore();
  expect(written).toEqual(Array(3).fill('the server said [hidden]\n'));
});

it('removes the progress text before it writes JSON', () => {
  vi.stubEnv('NO_COLOR', '1');
  const isTty = Object.getOwnPropertyDescriptor(process.stderr, 'isTTY');
  Object.defineProperty(process.stderr, 'isTTY', { value: true, configurable: true });
  const written: unknown[] = [];
  const spies = [process.stdout, process.stderr].map((stream) =>
    vi.spyOn(stream, 'write').mockImplementation((part) => written.push(part) > 0),
  );
  const output = new Output(true);
  output.progress('asking the service');
  output.document({ a: 1 });
  for (const spy of spies) spy.mockRestore();
  if (isTty === undefined) Reflect.deleteProperty(process.stderr, 'isTTY');
  else Object.defineProperty(process.stderr, 'isTTY', isTty);
  vi.unstubAllEnvs();
  expect(written.slice(-2)).toEqual(['\r\u001b[2K', '{\n  "a": 1\n}\n']);
});
