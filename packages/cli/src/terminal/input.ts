/** Parses the values of options for commander, and reads files. No message quotes a value. */
import { readFile } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import { InvalidArgumentError, Option } from 'commander';
import { cannotBeRead, usageFailure } from './failure.js';

/** Reads the exact bytes of a file. `-` is stdin. */
export async function readBytes(path: string, option: string): Promise<Buffer> {
  if (path === '-' && process.stdin.isTTY)
    process.stderr.write(`${option}: type the bytes, then press Ctrl-D\n`);
  return (path === '-' ? buffer(process.stdin) : readFile(path)).catch((error: unknown) => {
    throw usageFailure(cannotBeRead(option, path, error));
  });
}

/** Parses a whole number within bounds. */
export function wholeNumber(lowest: number, highest: number): (value: string) => number {
  return (value) => {
    const number = /^\d+$/.test(value) ? Number(value) : NaN;
    if (number >= lowest && number <= highest) return number;
    throw new InvalidArgumentError(`It must be a whole number from ${lowest} to ${highest}.`);
  };
}

const UNITS = { s: 1_000, m: 60_000, h: 3_600_000 };

/** Parses a duration such as 0.5s, 30s, 5m or 1h into milliseconds. */
export function duration(value: string): number {
  const [, number, unit] = /^(\d{1,6}(?:\.\d{1,3})?)([smh])$/.exec(value) ?? [];
  const milliseconds = Number(number) * UNITS[unit as keyof typeof UNITS];
  // Node's timers hold at most 24 days.
  if (milliseconds > 0 && milliseconds < 2 ** 31) return Math.ceil(milliseconds);
  throw new InvalidArgumentError('It must be a time such as 30s, 5m or 1h, at most 24 days.');
}

/** Returns the option of a duration, whose default the help shows as it is written here. */
export function durationOption(flags: string, description: string, byDefault: string): Option {
  return new Option(flags, description).argParser(duration).default(duration(byDefault), byDefault);
}

/** Collects an option that can be repeated. */
export function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}

/** Parses `name=value` of an option that can be repeated. The value is JSON if it can be. */
export function collectField(
  value: string,
  before: Readonly<Record<string, unknown>> = {},
): Readonly<Record<string, unknown>> {
  const equals = value.indexOf('=');
  if (equals < 1) throw new InvalidArgumentError('It must have the form name=value.');
  return { ...before, [value.slice(0, equals)]: jsonOrText(value.slice(equals + 1)) };
}

function jsonOrText(value: string): unknown {
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}

/** Parses `Name: value` of an option that can be repeated. */
export function collectHeader(
  value: string,
  before: Readonly<Record<string, string>> = {},
): Readonly<Record<string, string>> {
  const [, name = '', content = ''] = /^([^:]*):(.*)$/s.exec(value) ?? [];
  try {
    return { ...before, ...Object.fromEntries(new Headers([[name.trim(), content.trim()]])) };
  } catch {
    throw new InvalidArgumentError('It must have the form "Name: value".');
  }
}

/** Parses an address to send to. */
export function parseUrl(value: string): URL {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:')
    throw new InvalidArgumentError(
      'It must be an http or https URL, with http:// or https:// in front.',
    );
  if (url.username !== '' || url.password !== '')
    throw new InvalidArgumentError(
      "It must not contain a user or password: send --header 'Authorization: Basic …'.",
    );
  url.hash = '';
  return url;
}

/** Returns the URL for messages. Hides the query, which can hold a token. */
export function showUrl({ origin, pathname, search }: URL): string {
  return `${origin}${pathname}${search === '' ? '' : '?…'}`;
}
