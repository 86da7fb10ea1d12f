/**
 * HTTP/1.1 without TLS (RFC 9112), for databases that run each request as one transaction:
 * PostgREST, which Supabase has, and DynamoDB.
 */
import { Round } from './round.js';
import { splitMessages, WireError, type Listener, type Wire } from './wire.js';

const LONGEST_HEAD = 65_536;
const END_OF_HEAD = '\r\n\r\n';

export function openHttpWire(listener: Listener): Wire {
  const fromClient = splitMessages(lengthOf, (bytes) => {
    const head = headOf(bytes)!;
    const [, call, path] = /^([A-Z]+ ([^\s?]+))\S* HTTP\/1\.[01](?:\r\n|$)/.exec(head) ?? [];
    if (path === undefined) throw new WireError('does not speak HTTP/1.1');
    if (/websocket/i.test(fieldOf(head, 'upgrade') ?? ''))
      throw new WireError('asked for a WebSocket, whose messages cannot be held');
    listener.isOpen = true;
    // A service of AWS has its operations in a field.
    const [operation = call!] = /\w+$/.exec(fieldOf(head, 'x-amz-target') ?? '') ?? [];
    listener.onRound(new Round([operation], [bytes]));
  });
  const answersHead = (): boolean => listener.current?.statements[0]?.startsWith('HEAD ') === true;
  const fromServer = splitMessages(
    (bytes) => lengthOf(bytes, answersHead()),
    (bytes) => {
      const head = headOf(bytes)!;
      const [, status] = /^HTTP\/1\.[01] (\d{3})\b/.exec(head) ?? [];
      if (status === undefined) throw new WireError('does not answer as HTTP/1.1');
      const answered = listener.current;
      if (answered === undefined || status.startsWith('1')) return;
      if (status >= '400') answered.error = status;
      // PostgREST counts the rows that a request read or changed.
      const range = /^(?:(\d+)-(\d+)|\*)\/(\d+)?/.exec(fieldOf(head, 'content-range') ?? '') ?? [];
      const [, first, last, total] = range;
      if (last !== undefined) answered.rows = Number(last) - Number(first) + 1;
      else if (total !== undefined) answered.rows = Number(total);
      listener.onAnswer();
    },
  );
  return { fromClient, fromServer };
}

function headOf(bytes: Buffer): string | undefined {
  const end = bytes.indexOf(END_OF_HEAD);
  return end < 0 ? undefined : bytes.toString('latin1', 0, end);
}

/** Returns the length of a message. Undefined if more bytes must come, NaN if it has none. */
function lengthOf(bytes: Buffer, hasNoBody = false): number | undefined {
  const head = headOf(bytes);
  if (head === undefined) return bytes.length < LONGEST_HEAD ? undefined : Number.NaN;
  const start = head.length + END_OF_HEAD.length;
  if (hasNoBody || /^\S+ (?:1\d\d|204|304)\b/.test(head)) return start;
  if (/chunked$/i.test(fieldOf(head, 'transfer-encoding') ?? '')) return endOfChunks(bytes, start);
  const length = Number(fieldOf(head, 'content-length') ?? 0);
  return length >= 0 ? start + length : Number.NaN;
}

function endOfChunks(bytes: Buffer, start: number): number | undefined {
  for (let at = start; ;) {
    const lineEnd = bytes.indexOf('\r\n', at);
    if (lineEnd < 0) return undefined;
    const size = Number.parseInt(bytes.toString('latin1', at, lineEnd), 16);
    if (size === 0) {
      const end = bytes.indexOf(END_OF_HEAD, lineEnd);
      return end < 0 ? undefined : end + END_OF_HEAD.length;
    }
    at = lineEnd + size + 4;
    if (!(size > 0)) return Number.NaN;
  }
}

function fieldOf(head: string, name: string): string | undefined {
  return new RegExp(`^${name}:[ \\t]*(.*?)[ \\t]*$`, 'im').exec(head)?.[1];
}
