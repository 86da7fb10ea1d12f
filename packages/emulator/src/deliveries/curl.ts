import { isUtf8 } from 'node:buffer';
import { piecesOf } from '../visible-text.js';
import type { SentRequest } from './attempt.js';

// curl writes these lines itself, from the URL and the body.
const MADE_BY_CURL = new Set(['host', 'connection', 'content-length']);

/**
 * Returns a POSIX shell command that sends the same request: every header line and every byte of
 * the body.
 */
export function toCurl({ url, headerLines, rawBody }: SentRequest): string {
  const headers = headerLines
    .filter(([name]) => !MADE_BY_CURL.has(name.toLowerCase()))
    .map(([name, value]) => ` -H ${quote(`${name}: ${value}`)}`);
  // Without -g, curl treats brackets and braces in the URL as a pattern for several URLs.
  const command = `curl -sS -g -i -X POST ${quote(url)}${headers.join('')}`;
  const bytes = Buffer.from(rawBody);
  const text = bytes.toString('utf8');
  // A clipboard would lose invisible characters.
  if (isUtf8(bytes) && !piecesOf(text).some(({ isSign }) => isSign))
    return `${command} --data-raw ${quote(text)}`;
  const octal = Array.from(bytes, (byte) => `\\${byte.toString(8).padStart(3, '0')}`).join('');
  return `printf '${octal}' | ${command} --data-binary @-`;
}

function quote(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
