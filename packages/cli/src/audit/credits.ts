/** Counts the credits of an order through the merchant's own side: an address or a command. */
import { execFile } from 'node:child_process';
import { failure, usageFailure } from '../terminal/failure.js';

const PLACE = '{reference}';
const TIMEOUT = 10_000;

export type Credits = (reference: string) => Promise<number>;

/** @throws Failure if the value is neither an address nor a command with `{reference}` */
export function readCredits(value: string): Credits {
  if (!value.includes(PLACE)) {
    throw usageFailure(
      `--credits must contain ${PLACE}, which paylink replaces`,
      `for example --credits 'http://localhost:3000/credits/${PLACE}'`,
      `or --credits 'node count-credits.js ${PLACE}'`,
    );
  }
  const ask = /^https?:\/\//i.test(value) ? fromAddress(value) : fromCommand(splitWords(value));
  return async (reference) => readNumber(await ask(reference));
}

type Ask = (reference: string) => Promise<string>;

function fromAddress(address: string): Ask {
  return async (reference) => {
    const url = address.replaceAll(PLACE, encodeURIComponent(reference));
    const response = await fetch(url, {
      redirect: 'manual',
      signal: AbortSignal.timeout(TIMEOUT),
    }).catch((error: unknown) => {
      throw failure(
        '--credits: the address does not answer',
        (error as Error).cause instanceof Error
          ? ((error as Error).cause as Error).message
          : undefined,
      );
    });
    if (!response.ok)
      throw failure(`--credits: the address answers ${response.status}, not a number`);
    return response.text();
  };
}

/** Runs without a shell, so that any reference stays one argument. */
function fromCommand([program = '', ...words]: readonly string[]): Ask {
  return (reference) =>
    new Promise((resolve, reject) => {
      const args = words.map((word) => word.replaceAll(PLACE, reference));
      execFile(program, args, { timeout: TIMEOUT, windowsHide: true }, (error, stdout, stderr) => {
        if (error === null) return resolve(stdout);
        const { code } = error as NodeJS.ErrnoException;
        const said = stderr.trim().split('\n', 1)[0];
        reject(
          failure(
            `--credits: the command failed (${code ?? 'it took too long'})`,
            said === '' ? undefined : said,
          ),
        );
      });
    });
}

function readNumber(answer: string): number {
  const text = answer.trim();
  if (!/^\d{1,15}$/.test(text))
    throw failure("--credits must return only a whole number, the order's number of credits");
  return Number(text);
}

/**
 * Splits words as a shell does: by spaces, with quotes and backslashes. Outside quotes, a backslash
 * escapes only quotes, blanks and backslashes: `C:\tools\count.exe` stays a path.
 */
export function splitWords(line: string): string[] {
  const words: string[] = [];
  let word: string | undefined;
  let quote = '';
  for (let at = 0; at < line.length; at++) {
    const character = line[at]!;
    if (quote !== '') {
      if (character === quote) quote = '';
      else if (character === '\\' && quote === '"' && /["\\]/.test(line[at + 1] ?? ''))
        word = `${word ?? ''}${line[++at]!}`;
      else word = `${word ?? ''}${character}`;
    } else if (character === '"' || character === "'") {
      quote = character;
      word ??= '';
    } else if (character === '\\' && /["'\s\\]/.test(line[at + 1] ?? ''))
      word = `${word ?? ''}${line[++at]!}`;
    else if (/\s/.test(character)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else word = `${word ?? ''}${character}`;
  }
  if (quote !== '') throw usageFailure(`--credits has an unclosed ${quote}`);
  return word === undefined ? words : [...words, word];
}
