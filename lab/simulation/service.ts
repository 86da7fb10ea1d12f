/**
 * The Payment Link Service of a history: payments, an API that fails, and notifications that
 * repeat until a receiver acknowledges them.
 */
import { createHmac } from 'node:crypto';
import type { World } from './world.js';

type Status = 'pending' | 'failed' | 'cancelled' | 'success';

export interface Payment {
  readonly tenant: string | null;
  readonly reference: string;
  /** What the link asks for. A stale link differs from the order. */
  readonly amount: number;
  readonly currency: string;
  status: Status;
}

/** A notification with its target. */
export interface Notification {
  readonly tenant: string | null;
  readonly kind: string;
  readonly reference: string;
  readonly body: string;
  readonly signature: string;
  /** The tenant whose secret signed it, undefined for a forged one. */
  readonly signedFor: string | null | undefined;
}

const ATTEMPTS = 24;
const FIRST_RETRY = 5_000;
const LONGEST_RETRY = 3_600_000;
const ATTEMPT_TIMEOUT = 30_000;

export const secretOf = (tenant: string | null): string => `webhook-secret-of-${tenant ?? 'us'}`;
const keyOf = (tenant: string | null, reference: string): string => `${tenant ?? '-'}/${reference}`;

export class Service {
  readonly #payments = new Map<string, Payment>();
  /** Every signed notification: the loot of an attacker with a leaked log. */
  readonly sent: Notification[] = [];

  constructor(readonly world: World) {}

  createPayment(payment: Payment): void {
    this.#payments.set(keyOf(payment.tenant, payment.reference), payment);
  }

  payment(tenant: string | null, reference: string): Payment | undefined {
    return this.#payments.get(keyOf(tenant, reference));
  }

  /** Returns true unless the payment has succeeded before: a success is final. */
  decide(payment: Payment, status: Status): boolean {
    if (payment.status === 'success' || payment.status === 'cancelled') return false;
    payment.status = status;
    if (status === 'success') this.notify(payment, 'payment.succeeded');
    // A kind that the contract does not show, and an attacker can relabel.
    if (status === 'failed') this.notify(payment, 'payment.failed');
    return true;
  }

  /** Signs a notification and sends it until it is acknowledged. */
  notify({ tenant, reference }: Payment, kind: string, number = 1): void {
    const { world } = this;
    // The contract shows only `reference`. Other fields differ from try to try.
    const body = JSON.stringify({ reference, ...(world.tellsAttempt ? { attempt: number } : {}) });
    const signature = createHmac('sha256', secretOf(tenant)).update(body).digest('hex');
    const notification = { tenant, kind, reference, body, signature, signedFor: tenant };
    this.sent.push(notification);
    world.post(notification, ATTEMPT_TIMEOUT, (status) => {
      const told = `${kind} ${keyOf(tenant, reference)}, attempt ${number}`;
      world.tell('service', `${told}: ${status ?? 'no answer'}`);
      if (status === 200 || number === ATTEMPTS) return;
      const wait = Math.min(LONGEST_RETRY, FIRST_RETRY * 2 ** (number - 1));
      const payment = this.payment(tenant, reference)!;
      const again = (): void => this.notify(payment, kind, number + 1);
      world.time.after(wait * (0.5 + world.random.next()), again, null);
    });
  }

  /** The API for the client of this tenant. A lost request is never answered. */
  fetchFor(tenant: string | null): (url: string) => Promise<Response> {
    const { time, faults } = this.world;
    return (url) => {
      const caller = time.acting;
      return new Promise<Response>((resolve, reject) => {
        const answer = (settle: () => void): void =>
          void time.after(faults.delay(), settle, caller);
        const cut = (): void => answer(() => reject(new TypeError('fetch failed')));
        if (faults.strikes('cut')) return cut();
        if (faults.strikes('lost')) return;
        const serve = (): void => {
          const reply = this.#answerTo(tenant, decodeURIComponent(url.split('/').at(-1)!));
          if (faults.strikes('cut')) cut();
          else if (!faults.strikes('lost')) answer(() => resolve(reply));
        };
        time.after(faults.delay(), serve, null);
      });
    };
  }

  #answerTo(tenant: string | null, reference: string): Response {
    const { faults, random } = this.world;
    if (faults.strikes('apiRefuses')) {
      const seconds = String(1 + random.below(20));
      return response(random.chance(0.5) ? 429 : 503, {}, { 'retry-after': seconds });
    }
    const payment = this.payment(tenant, reference);
    if (payment === undefined) return response(404, {});
    const { amount, currency, status } = payment;
    const body = { reference, type: 'payment', amount, currency, status };
    if (!faults.strikes('apiLies')) return response(200, body);
    // Nonsense that a client or a proxy can give.
    const nonsense = [{}, { status: 'done' }, { reference: 'another' }, { amount: -amount }];
    const lie = nonsense[random.below(nonsense.length)]!;
    return response(200, Object.keys(lie).length === 0 ? {} : { ...body, ...lie });
  }
}

/** The part of a Response that the client reads. A real one takes a hundred times as long. */
function response(
  status: number,
  body: object,
  headers: Readonly<Record<string, string>> = {},
): Response {
  const pieces = [new TextEncoder().encode(JSON.stringify(body))];
  const reader = {
    read: async () => ({ done: pieces.length === 0, value: pieces.shift() }),
    cancel: async () => undefined,
  };
  return {
    status,
    type: 'default',
    redirected: false,
    headers: { get: (name: string) => headers[name.toLowerCase()] ?? null },
    body: { getReader: () => reader, cancel: async () => undefined },
  } as unknown as Response;
}
