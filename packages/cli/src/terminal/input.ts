/**
 * Reads the inputs of a command: files, stdin, numbers, addresses, headers. Each failure names the
 * option.
 */
import { isUtf8 } from 'node:buffer';
import { open, readFile, rm, stat } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import { InvalidArgumentError } from 'commander';
import { cannotBeWritten, usageFailure } from './failure.js';

let stdinTakenBy: string | undefined;

/** Reads the exact bytes of a file. `-` is stdin, which only one option can use. */
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

export async function readText(path: string, option: string): Promise<string> {
  const bytes = await readBytes(path, option);
  if (!isUtf8(bytes)) throw usageFailure(`${option}: ${path} is not UTF-8 text`);
  return bytes.toString('utf8');
}

async function readStdin(option: string): Promise<Buffer> {
  if (stdinTakenBy !== undefined)
    throw usageFailure(`${stdinTakenBy} and ${option} cannot both be read from stdin`);
  stdinTakenBy = option;
  return buffer(process.stdin);
}

/**
 * Fails before work that takes minutes, instead of losing its report. Leaves no file behind.
 *
 * @throws Failure
 */
export async function requireWritable(path: string): Promise<void> {
  try {
    const found = await stat(path).catch(ignoreMissing);
    // Opening and closing a pipe would end its reader.
    if (found !== undefined && !found.isFile() && !found.isDirectory()) return;
    const file = await open(path, found === undefined ? 'wx' : 'r+');
    await file.close();
    if (found === undefined) await rm(path);
  } catch (error) {
    throw usageFailure(cannotBeWritten(path, error), 'nothing was sent');
  }
}

function ignoreMissing(error: unknown): undefined {
  if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
}

/** Parses a whole number within bounds, for commander. */
export function wholeNumber(lowest: number, highest: number): (value: string) => number {
  return (value) => {
    const number = /^-?\d+$/.test(value) ? Number(value) : NaN;
    if (Number.isSafeInteger(number) && number >= lowest && number <= highest) return number;
    throw new InvalidArgumentError(`It must be a whole number from ${lowest} to ${highest}.`);
  };
}

/** Parses seconds into milliseconds, for commander. */
export function seconds(value: string): number {
  const number = /^\d+(\.\d+)?$/.test(value) ? Number(value) : NaN;
  if (number > 0 && number <= 3_600) return Math.ceil(number * 1_000);
  throw new InvalidArgumentError('It must be a number of seconds, more than 0 and at most 3600.');
}

const UNITS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000 };

/** Parses a duration such as 30s, 5m or 1h into milliseconds, for commander. */
export function duration(value: string): number {
  const [, number, unit] = /^(\d{1,6})([smh])$/.exec(value) ?? [];
  const milliseconds = Number(number) * (UNITS[unit!] ?? NaN);
  // Node's timers hold at most 24 days.
  if (milliseconds > 0 && milliseconds < 2 ** 31) return milliseconds;
  throw new InvalidArgumentError('It must be a time such as 30s, 5m or 1h, at most 24 days.');
}

/** Collects an option that can be repeated, for commander. */
export function collect(value: string, before: readonly string[] = []): string[] {
  return [...before, value];
}

/** Parses a URL to send to. @throws Failure unless it uses http or https and holds no password */
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
      `${option} must not contain a user or password`,
      "send them with --header 'Authorization: Basic …'",
    );
  }
  url.hash = '';
  return url;
}

/** Parses the webhook address in --to. */
export function requireTarget(to: string | undefined): URL {
  if (to === undefined)
    throw usageFailure(
      "no --to: give your server's address",
      'for example --to http://localhost:3000/webhooks/payments',
    );
  return readUrl(to, '--to');
}

/** Returns the URL for messages. Hides the query, which can hold a token. */
export function showUrl({ origin, pathname, search }: URL): string {
  return `${origin}${pathname}${search === '' ? '' : '?…'}`;
}

/** Parses headers of the form `Name: value`. */
export function readHeaders(values: readonly string[] = []): Record<string, string> {
  const headers: [string, string][] = values.map((value) => {
    const colon = value.indexOf(':');
    const name = value.slice(0, Math.max(colon, 0)).trim();
    const content = value.slice(colon + 1).trim();
    try {
      new Headers([[name, content]]);
    } catch {
      // Hides the value, which can be a password.
      throw usageFailure(
        '--header must have the form "Name: value", in characters that headers allow',
      );
    }
    return [name.toLowerCase(), content];
  });
  return Object.fromEntries(headers);
}

/**
 * Returns the parts of a request that no output may show: its query and header values, whole and
 * split as a server may echo them.
 */
export function secretsOf(
  { search, searchParams }: URL,
  headers: Readonly<Record<string, string>>,
): string[] {
  const query = search.slice(1);
  const encoded = query.split('&').map((pair) => pair.slice(pair.indexOf('=') + 1));
  const values = Object.values(headers);
  // From `Authorization: Bearer T`, a server may echo T alone.
  const afterScheme = values.map((value) => value.replace(/^\S+\s+/, ''));
  return [query, ...encoded, ...searchParams.values(), ...values, ...afterScheme];
}
