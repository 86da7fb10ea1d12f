/**
 * HTTP/1.1 without TLS (RFC 9112), for databases that run each request as one transaction:
 * PostgREST, which Supabase has, and DynamoDB.
 */
import { Round } from './round.js';
import { LONGEST_MESSAGE, WireError, type Listener, type Wire } from './wire.js';

const LONGEST_HEAD = 65_536;
const END_OF_HEAD = '\r\n\r\n';

export function openHttpWire({ onRound, current, onAnswer }: Listener): Wire {
  let isOpen = false;
  const fromClient = splitHttp((head, bytes) => {
    const [, call, path] = /^([A-Z]+ ([^\s?]+))\S* HTTP\/1\.[01](?:\r\n|$)/.exec(head) ?? [];
    if (path === undefined) throw new WireError('does not speak HTTP/1.1');
    if (/websocket/i.test(fieldOf(head, 'upgrade') ?? ''))
      throw new WireError('asked for a WebSocket, whose messages cannot be held');
    isOpen = true;
    const round = new Round();
    // A service of AWS has its operations in a field.
    const [operation = call!] = /\w+$/.exec(fieldOf(head, 'x-amz-target') ?? '') ?? [];
    round.statements.push(operation);
    round.parts.push(bytes);
    onRound(round);
  });
  const fromServer = splitHttp(
    (head) => {
      const [, status] = /^HTTP\/1\.[01] (\d{3})\b/.exec(head) ?? [];
      if (status === undefined) throw new WireError('does not answer as HTTP/1.1');
      const answered = current();
      if (answered === undefined || status.startsWith('1')) return;
      if (status >= '400') answered.error = status;
      // PostgREST counts the rows that a request read or changed.
      const range = /^(?:(\d+)-(\d+)|\*)\/(\d+)?/.exec(fieldOf(head, 'content-range') ?? '') ?? [];
      const [, first, last, total] = range;
      if (last !== undefined) answered.rows = Number(last) - Number(first) + 1;
      else if (total !== undefined) answered.rows = Number(total);
      onAnswer();
    },
    () => current()?.statements[0]?.startsWith('HEAD ') === true,
  );
  return {
    get isOpen() {
      return isOpen;
    },
    fromClient,
    fromServer,
  };
}

/** Returns a function that takes a stream's chunks, however cut, and calls `onMessage` for each. */
function splitHttp(
  onMessage: (head: string, bytes: Buffer) => void,
  answersHead = (): boolean => false,
): (chunk: Buffer) => void {
  let bytes: Buffer = Buffer.alloc(0);
  return (chunk) => {
    bytes = Buffer.concat([bytes, chunk]);
    for (let end = 0; bytes.length > 0; bytes = bytes.subarray(end)) {
      const headEnd = bytes.indexOf(END_OF_HEAD);
      if (headEnd < 0 && bytes.length < LONGEST_HEAD) return;
      const head = bytes.toString('latin1', 0, headEnd);
      const hasNoBody = answersHead() || /^\S+ (?:1\d\d|204|304)\b/.test(head);
      const start = headEnd + END_OF_HEAD.length;
      end = hasNoBody ? start : endOfBody(bytes, start, head);
      if (headEnd < 0 || !(end >= start && end <= LONGEST_MESSAGE))
        throw new WireError('sent a message of an impossible length');
      if (end > bytes.length) return;
      onMessage(head, bytes.subarray(0, end));
    }
  };
}

/** Returns a number above the length of the bytes if more must come. */
function endOfBody(bytes: Buffer, start: number, head: string): number {
  if (!/chunked$/i.test(fieldOf(head, 'transfer-encoding') ?? ''))
    return start + Number(fieldOf(head, 'content-length') ?? 0);
  for (let at = start; ;) {
    const lineEnd = bytes.indexOf('\r\n', at);
    if (lineEnd < 0) return bytes.length + 1;
    const size = Number.parseInt(bytes.toString('latin1', at, lineEnd), 16);
    if (size === 0) {
      const end = bytes.indexOf(END_OF_HEAD, lineEnd);
      return end < 0 ? bytes.length + 1 : end + END_OF_HEAD.length;
    }
    at = lineEnd + size + 4;
    if (!(size > 0)) return Number.NaN;
  }
}

function fieldOf(head: string, name: string): string | undefined {
  return new RegExp(`^${name}:[ \\t]*(.*?)[ \\t]*$`, 'im').exec(head)?.[1];
}
