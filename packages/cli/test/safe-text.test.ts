import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { Output } from '../src/terminal/output.js';
import { escapeText, SafeText, safeJson, text, toSafe } from '../src/terminal/safe-text.js';

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

  it('keeps its own styles and escapes inserted text', () => {
    const red = new SafeText(`\u001b[31m${toSafe('a\u001b[0mb').value}\u001b[39m`);
    expect(text`paid ${red}`.value).toBe('paid \u001b[31ma\\x1b[0mb\u001b[39m');
    expect(toSafe(text`${'\u001b'}`).value).toBe('\\x1b');
  });

  it('contains no control character as JSON, and parses to the same value', () => {
    fc.assert(
      fc.property(fc.array(anyText), (value) => {
        const json = safeJson(value, 2);
        expect(json).not.toMatch(ACTED_ON);
        expect(JSON.parse(json)).toEqual(value);
      }),
    );
  });
});

describe('the output of a command', () => {
  const written = async (
    write: (output: Output) => unknown,
    isJson = false,
  ): Promise<unknown[]> => {
    const spy = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
    await write(new Output(isJson));
    const lines = spy.mock.calls.map(([line]) => line);
    spy.mockRestore();
    return lines;
  };

  it.each(['abc\tdefghij', 'abc\u00addefghij', 'abc\u200ddefghij'])(
    'hides a secret with a character that a terminal shows escaped: %j',
    async (secret) => {
      const lines = await written((output) => {
        output.hide(secret);
        output.line(`the server said ${secret}`);
      });
      expect(lines).toEqual(['the server said [hidden]\n']);
    },
  );

  it('hides a whole secret that begins with another one', async () => {
    const lines = await written((output) => {
      output.hide('a-secret');
      output.hide('a-secret-of-a-portal');
      output.line('the server said a-secret-of-a-portal, and a-secret');
    });
    expect(lines).toEqual(['the server said [hidden], and [hidden]\n']);
  });

  it('hides a secret in a table', async () => {
    const lines = await written((output) => {
      output.hide('a-secret');
      return output.table([['the server said', 'a-secret']]);
    });
    expect(lines).toEqual(['  the server said  [hidden]\n']);
  });

  it('has a large amount of a database as text in JSON, which has no bigint', async () => {
    const lines = await written((output) => output.record({ amount: 15_000n }), true);
    expect(lines).toEqual(['{"amount":"15000"}\n']);
  });

  it('aligns the columns of a table by the columns of the terminal', async () => {
    const lines = await written((output) =>
      output.table([
        ['注文', 'a'],
        ['e\u0301', 'b'],
      ]),
    );
    expect(lines).toEqual(['  注文  a\n', '  e\u0301     b\n']);
  });
});
