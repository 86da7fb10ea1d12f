import { randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { sign } from '@paylink/core';
import type { Fault } from './faults.js';
import { headersOf, signNotification, type Notification } from '../deliveries/notification.js';
import type { Pace } from '../deliveries/send.js';

/** The notifications of a fault, and their timing. */
export interface FaultyDelivery {
  readonly notifications: readonly Notification[];
  /** `at once`, or each after the answer to the previous one. */
  readonly order: 'at once' | 'in turn';
  /** Milliseconds before the first notification. */
  readonly wait?: number;
  readonly pace?: Pace;
}

/** The genuine notification that a fault changes. */
export interface Genuine {
  /** The body of a success notification. */
  readonly body: string;
  /** The body for the payment's present status, which may be unpaid. */
  readonly presentBody: string;
  readonly contentType: string;
  readonly secret: string;
  readonly otherEvent: string;
}

export interface FaultOptions {
  /** `duplicate`: the number of concurrent notifications. Default 10. */
  readonly times?: number | undefined;
  /** `late`: milliseconds before the notification. Default 5,000. */
  readonly delay?: number | undefined;
  /** `slow`: milliseconds between two bytes. Default 1,000. */
  readonly interval?: number | undefined;
}

const EVENT = 'payment.succeeded';

type MakeDelivery = (genuine: Genuine, options: FaultOptions) => Promise<FaultyDelivery>;

const MAKERS: Readonly<Record<Fault, MakeDelivery>> = {
  duplicate: async (genuine, { times = 10 }) => {
    const notification = await make(genuine);
    return { notifications: Array<Notification>(times).fill(notification), order: 'at once' };
  },
  repeated: async (genuine) => {
    const notification = await make(genuine);
    return { notifications: [notification, notification], order: 'in turn' };
  },
  late: async (genuine, { delay = 5_000 }) => ({ ...one(await make(genuine)), wait: delay }),
  reordered: async (genuine) => ({
    notifications: [await make(genuine), await make(genuine, { event: genuine.otherEvent })],
    order: 'in turn',
  }),
  tampered: async (genuine) => {
    const { headers, body } = await make(genuine);
    return one({ headers, body: changeOneLetter(body) });
  },
  wrong_secret: async (genuine) =>
    one(await make(genuine, { secret: randomBytes(32).toString('hex') })),
  unsigned: async ({ body, contentType }) =>
    one({ headers: headersOf(EVENT, contentType), body: Buffer.from(body) }),
  relabelled: async (genuine) =>
    one(await make(genuine, { body: Buffer.from(genuine.presentBody) })),
  unknown_event: async (genuine) => one(await make(genuine, { event: genuine.otherEvent })),
  re_serialised: async (genuine) => {
    const { headers, body } = await make(genuine);
    return one({
      headers,
      body: Buffer.from(JSON.stringify(JSON.parse(body.toString()), null, 2)),
    });
  },
  gzip: async (genuine) => {
    const { headers, body } = await make(genuine);
    return one({ headers: [...headers, ['Content-Encoding', 'gzip']], body: gzipSync(body) });
  },
  two_signatures: async ({ body, contentType, secret }) => {
    const bytes = Buffer.from(body);
    const forged = randomBytes(32).toString('hex');
    return one({
      headers: headersOf(EVENT, contentType, await sign(bytes, secret), forged),
      body: bytes,
    });
  },
  bom: async (genuine) => one(await make(genuine, { body: Buffer.from(`\ufeff${genuine.body}`) })),
  slow: async (genuine, { interval = 1_000 }) => ({
    ...one(await make(genuine)),
    pace: { kind: 'slow', interval },
  }),
  aborted: async (genuine) => {
    const notification = await make(genuine);
    return {
      ...one(notification),
      pace: { kind: 'break off', after: Math.floor(notification.body.byteLength / 2) },
    };
  },
};

export function makeFaultyDelivery(
  fault: Fault,
  genuine: Genuine,
  options: FaultOptions,
): Promise<FaultyDelivery> {
  return MAKERS[fault](genuine, options);
}

interface Changes {
  readonly body?: Buffer;
  readonly event?: string;
  readonly secret?: string;
}

function make(
  { body, contentType, secret }: Genuine,
  changes: Changes = {},
): Promise<Notification> {
  return signNotification({
    body: Buffer.from(body),
    event: EVENT,
    contentType,
    secret,
    ...changes,
  });
}

function one(notification: Notification): FaultyDelivery {
  return { notifications: [notification], order: 'in turn' };
}

/** Changes the last letter or digit, so that the body usually stays JSON with another value. */
function changeOneLetter(body: Buffer): Buffer {
  const changed = Buffer.from(body);
  const index = changed.findLastIndex((byte) => /[A-Za-z0-9]/.test(String.fromCharCode(byte)));
  const [one, other] = /\d/.test(String.fromCharCode(changed[index] ?? 0))
    ? (['1', '2'] as const)
    : (['x', 'y'] as const);
  if (index === -1) return Buffer.concat([body, Buffer.from(' ')]);
  changed.write(String.fromCharCode(changed[index]!) === one ? other : one, index, 'latin1');
  return changed;
}
