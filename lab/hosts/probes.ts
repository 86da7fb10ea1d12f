/** The probes of every host besides the audit: exact replies, their timing, and the money. */
import { signedDelivery, type SignedDelivery } from '@paylink/testing';
import {
  begin,
  chunked,
  exchange,
  requestBytes,
  type HeaderLines,
  type Wire,
  type WireReply,
} from '../../packages/testing/src/wire.js';
import type { Books } from './books.js';

export interface Target {
  readonly url: URL;
  readonly secret: string;
  readonly books: Books;
}

export interface HostProbe {
  readonly id: string;
  readonly what: string;
  /** Returns the fault, or undefined. */
  readonly find: (target: Target) => Promise<string | undefined>;
}

/** Far more than a busy machine needs, and far less than any host's time limit. */
const AT_ONCE = 2_000;
const RECEIVED = '{"received":true}';

export const hostProbes: readonly HostProbe[] = [
  {
    id: 'H01',
    what: 'a genuine delivery, and the same again',
    async find({ books, ...target }) {
      books.add('host-twice');
      const delivery = genuine(target, 'host-twice');
      const first = await send(target, delivery);
      const second = await send(target, delivery);
      return (
        unlike(first, 200, RECEIVED) ??
        unlike(second, 200, RECEIVED) ??
        unlessEqual(books.credits('host-twice'), 1, 'credits')
      );
    },
  },
  {
    id: 'E04',
    what: 'a second configured kind for the same order',
    async find({ books, ...target }) {
      books.add('host-refunded');
      const refund = signedDelivery({
        secret: target.secret,
        type: 'payment.refunded',
        reference: 'host-refunded',
        payload: { refund_id: 'refund-1' },
      });
      const paid = await send(target, genuine(target, 'host-refunded'));
      const refunded = await send(target, refund);
      return (
        unlike(paid, 200, RECEIVED) ??
        unlike(refunded, 200, RECEIVED) ??
        unlessEqual(books.credits('host-refunded'), 1, 'credits') ??
        unlessEqual(books.refunds('host-refunded'), 1, 'refunds')
      );
    },
  },
  {
    id: 'E04',
    what: 'a kind that is not configured',
    async find({ books, ...target }) {
      books.add('host-other-kind');
      const delivery = signedDelivery({
        secret: target.secret,
        type: 'payment.disputed',
        reference: 'host-other-kind',
      });
      const reply = await send(target, delivery);
      return (
        unlike(reply, 200, RECEIVED) ??
        unlessEqual(
          books.credits('host-other-kind') + books.refunds('host-other-kind'),
          0,
          'entries',
        )
      );
    },
  },
  {
    id: 'G01',
    what: 'a handler that throws, and the retry',
    async find({ books, ...target }) {
      books.add('host-fails');
      books.failOnce('host-fails');
      const delivery = genuine(target, 'host-fails');
      const failed = await send(target, delivery);
      if (failed.status < 500) return `answered ${failed.status} although the handler threw`;
      const retried = await send(target, delivery);
      return (
        unlike(retried, 200, RECEIVED) ??
        unlessEqual(books.credits('host-fails'), 1, 'credits') ??
        (failed.body.includes('database') ? 'the reply quotes what the handler threw' : undefined)
      );
    },
  },
  {
    id: 'A01',
    what: 'the reply to a forged signature, to the letter',
    async find(target) {
      const delivery = genuine(target, 'host-forged');
      const reply = await send(target, delivery, { 'x-service-signature': '0'.repeat(64) });
      return (
        unlike(reply, 401, '{"error":"invalid_signature"}') ??
        unlessEqual(reply.headers.get('content-type'), 'application/json', 'as content-type') ??
        unlessEqual(reply.headers.get('www-authenticate'), 'Signature', 'as www-authenticate')
      );
    },
  },
  {
    id: 'D04',
    what: 'a refusal before the body: a signature that cannot be right',
    find: (target) =>
      refusedEarly(target, 401, 'invalid_signature', { signature: 'guess', length: 60_000 }),
  },
  {
    id: 'D03',
    what: 'a refusal before the body: a declared length over the limit',
    find: (target) => refusedEarly(target, 413, 'body_too_large', { length: 1_073_741_824 }),
  },
  {
    id: 'D02',
    what: 'a refusal before the end of a chunked body over the limit',
    async find(target) {
      const delivery = genuine(target, 'host-endless');
      const lines = linesOf(target, delivery, [['Transfer-Encoding', 'chunked']]);
      const open = chunked(Buffer.alloc(100_000, 0x20)).subarray(0, -5);
      const wire = await begin(
        target.url,
        requestBytes(lines, open, { path: target.url.pathname }),
      );
      return ending(wire, await wire.answer('POST', AT_ONCE), 413, 'body_too_large');
    },
  },
  {
    id: 'D04',
    what: 'the end of the connection after a refusal before the body',
    async find(target) {
      const wire = await beginUnfinished(target, { signature: 'guess', length: 60_000 });
      try {
        if (typeof (await wire.answer('POST', 10_000)) === 'string') return undefined;
        await wire.closed(AT_ONCE);
        return undefined;
      } catch {
        return `still open ${AT_ONCE / 1_000} s after the reply`;
      } finally {
        wire.destroy();
      }
    },
  },
  {
    id: 'D06',
    what: 'a sender that stops in the middle of the body',
    async find(target) {
      const wire = await beginUnfinished(target, { length: 60_000 });
      return ending(wire, await wire.answer('POST', 8_000), 408, 'body_timeout');
    },
  },
];

function genuine({ secret }: Pick<Target, 'secret'>, reference: string): SignedDelivery {
  return signedDelivery({ secret, reference });
}

type At = Pick<Target, 'url' | 'secret'>;

function linesOf(
  { url }: At,
  { headers }: SignedDelivery,
  framing: HeaderLines,
  more: Record<string, string> = {},
): HeaderLines {
  return [['Host', url.host], ...Object.entries({ ...headers, ...more }), ...framing];
}

async function send(
  at: At,
  delivery: SignedDelivery,
  more?: Record<string, string>,
): Promise<WireReply> {
  const lines = linesOf(at, delivery, [['Content-Length', String(delivery.rawBody.length)]], more);
  const { wire, ...reply } = await exchange(
    at.url,
    requestBytes(lines, delivery.rawBody, { path: at.url.pathname }),
  );
  wire.destroy();
  return reply;
}

interface Unfinished {
  readonly length: number;
  readonly signature?: string;
}

/** Sends a head and the start of a body that does not continue. */
function beginUnfinished(at: At, { length, signature }: Unfinished): Promise<Wire> {
  const delivery = genuine(at, 'host-unfinished');
  const more = signature === undefined ? {} : { 'x-service-signature': signature };
  const lines = linesOf(at, delivery, [['Content-Length', String(length)]], more);
  return begin(
    at.url,
    requestBytes(lines, delivery.rawBody.subarray(0, 8), { path: at.url.pathname }),
  );
}

async function refusedEarly(
  target: At,
  status: number,
  code: string,
  unfinished: Unfinished,
): Promise<string | undefined> {
  const wire = await beginUnfinished(target, unfinished);
  return ending(wire, await wire.answer('POST', AT_ONCE), status, code);
}

function ending(
  wire: Wire,
  answer: WireReply | string,
  status: number,
  code: string,
): string | undefined {
  wire.destroy();
  if (typeof answer === 'string')
    return answer === 'closed' ? `closed by ${wire.ending ?? 'FIN'} without a reply` : answer;
  return unlike(answer, status, `{"error":"${code}"}`);
}

function unlike(reply: WireReply, status: number, body: string): string | undefined {
  if (reply.status !== status) return `answered ${reply.status} in place of ${status}`;
  return reply.body === body ? undefined : `answered ${status} with another body`;
}

function unlessEqual(actual: unknown, expected: unknown, what: string): string | undefined {
  return actual === expected
    ? undefined
    : `${String(actual)} in place of ${String(expected)} ${what}`;
}
