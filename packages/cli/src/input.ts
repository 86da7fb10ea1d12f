/**
 * Reads the inputs of a command: files, stdin, numbers, addresses, headers. Each failure names the
 * option.
 */
import { isUtf8 } from 'node:buffer';
import { readFile } from 'node:fs/promises';
import { InvalidArgumentError } from 'commander';
import { usageFailure } from './failure.js';

let stdinTakenBy: string | undefined;

/** The exact bytes of a file. `-` is stdin, which one option can have. */
export async function readBytes(path: string, option: string): Promise<Buffer> {
  if (path === '-') return readStdin(option);
  try {
    return await readFile(path);
  } catch (error) {
    throw usageFailure(
      `${option}: ${path} cannot be read ` +
        `(${(error as NodeJS.ErrnoException).code ?? 'unknown reason'})`,
    );
  }
}

/** A file of text. */
export async function readText(path: string, option: string): Promise<string> {
  const bytes = await readBytes(path, option);
  if (!isUtf8(bytes)) throw usageFailure(`${option}: ${path} is not UTF-8 text`);
  return bytes.toString('utf8');
}

async function readStdin(option: string): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of takeStdin(option)) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

/** For commander: a whole number within bounds. */
export function wholeNumber(lowest: number, highest: number): (value: string) => number {
  return (value) => {
    const number = /^-?\d+$/.test(value) ? Number(value) : NaN;
    if (Number.isSafeInteger(number) && number >= lowest && number <= highest) return number;
    throw new InvalidArgumentError(`It must be a whole number from ${lowest} to ${highest}.`);
  };
}

/** For commander: seconds, as milliseconds. */
export function seconds(value: string): number {
  const number = /^\d+(\.\d+)?$/.test(value) ? Number(value) : NaN;
  if (number > 0 && number <= 3_600) return Math.ceil(number * 1_000);
  throw new InvalidArgumentError('It must be a number of seconds, more than 0 and at most 3600.');
}

/** For commander: an age in days or hours, as the date of that time ago. */
export function ago(value: string): Date {
  const [, count, unit] = /^([1-9]\d{0,4})([dh])$/.exec(value) ?? [];
  if (count === undefined) throw new InvalidArgumentError('It must be days or hours: 30d, 12h.');
  return new Date(Date.now() - Number(count) * (unit === 'd' ? 86_400_000 : 3_600_000));
}

const UNITS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000 };

/** For commander: a time such as 30s, 5m or 1h, as milliseconds. */
export function duration(value: string): number {
  const [, number, unit] = /^(\d{1,6})([smh])$/.exec(value) ?? [];
  const milliseconds = Number(number) * (UNITS[unit!] ?? NaN);
  // 24 days are the longest that a timer can be set for.
  if (milliseconds > 0 && milliseconds < 2 ** 31) return milliseconds;
  throw new InvalidArgumentError('It must be a time such as 30s, 5m or 1h, at most 24 days.');
}

/** For commander: an option that can be given several times. */
export function collect(value: string, before: readonly string[] = []): string[] {
  return [...before, value];
}

/** An address to send to. @throws Failure unless it is http or https, and holds no password. */
export function readUrl(value: string, option: string): URL {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') {
    throw usageFailure(
      `${option} must be an http or https URL`,
      'for example http://localhost:3000/webhooks/payments',
    );
  }
  if (url.username !== '' || url.password !== '') {
    throw usageFailure(
      `${option} must not hold a user or password`,
      "send them with --header 'Authorization: Basic …'",
    );
  }
  url.hash = '';
  return url;
}

/** The address of a webhook, by --to. */
export function requireTarget(to: string | undefined): URL {
  if (to === undefined)
    throw usageFailure(
      'no --to: which server?',
      'for example --to http://localhost:3000/webhooks/payments',
    );
  return readUrl(to, '--to');
}

/** An address as it is shown: a query can hold a token. */
export function showUrl({ origin, pathname, search }: URL): string {
  return `${origin}${pathname}${search === '' ? '' : '?…'}`;
}

/** Headers of the form `Name: value`. */
export function readHeaders(values: readonly string[] = []): Record<string, string> {
  const headers: [string, string][] = values.map((value) => {
    const colon = value.indexOf(':');
    const name = value.slice(0, Math.max(colon, 0)).trim();
    const content = value.slice(colon + 1).trim();
    try {
      new Headers([[name, content]]);
    } catch {
      // Without the value, which can be a password.
      throw usageFailure(
        '--header must have the form "Name: value", in characters that a header can have',
      );
    }
    return [name.toLowerCase(), content];
  });
  return Object.fromEntries(headers);
}

/**
 * The parts of a request that no output may hold: its query and its headers, whole and in the parts
 * that a server may send back alone.
 */
export function secretsOf(
  { search, searchParams }: URL,
  headers: Readonly<Record<string, string>>,
): string[] {
  const query = search.slice(1);
  const encoded = query.split('&').map((pair) => pair.slice(pair.indexOf('=') + 1));
  const values = Object.values(headers);
  // `Authorization: Bearer T`: a server may know T alone.
  const afterScheme = values.map((value) => value.replace(/^\S+\s+/, ''));
  return [query, ...encoded, ...searchParams.values(), ...values, ...afterScheme];
}

/** Stdin as a stream, for the one option that has it. */
export function takeStdin(option: string): NodeJS.ReadStream {
  if (stdinTakenBy !== undefined)
    throw usageFailure(`${stdinTakenBy} and ${option} cannot both be read from stdin`);
  stdinTakenBy = option;
  return process.stdin;
}
