/**
 * The Payment Link Service of a history: the emulator's ledger, a faulty API, and notifications
 * that repeat until acknowledged.
 */
import { createHmac } from 'node:crypto';
import { readAssumed } from '../../packages/emulator/src/contract/validate-assumed.js';
import { Ledger } from '../../packages/emulator/src/payments/ledger.js';
import { noStore } from '../../packages/emulator/src/state/state-file.js';
import type { World } from './world.js';

/** A notification with its target. */
export interface Notification {
  readonly id: number;
  readonly tenant: string;
  readonly kind: string;
  readonly reference: string;
  readonly body: string;
  readonly signature: string;
  /** The tenant whose secret signed it, undefined for a forged one. */
  readonly signedFor: string | undefined;
}

const ATTEMPTS = 24;
const FIRST_RETRY = 5_000;
const LONGEST_RETRY = 3_600_000;
const ATTEMPT_TIMEOUT = 30_000;

export class Service {
  readonly #ledgers = new Map<string, Ledger>();
  /** Every signed notification: the loot of an attacker with a leaked log. */
  readonly sent: Notification[] = [];
  #lastId = 0;

  constructor(
    readonly world: World,
    readonly secrets: ReadonlyMap<string, string>,
  ) {
    for (const tenant of secrets.keys()) {
      this.#ledgers.set(
        tenant,
        new Ledger({
          assumed: readAssumed({ duplicateReference: 'allow' }),
          payUrl: 'https://pay.example',
          store: noStore,
          onSuccess: ({ reference }) => this.notify(tenant, 'payment.succeeded', reference),
        }),
      );
    }
  }

  ledgerOf(tenant: string): Ledger {
    return this.#ledgers.get(tenant)!;
  }

  statusOf(tenant: string, reference: string): string | undefined {
    return this.ledgerOf(tenant).findByReference(reference)?.status;
  }

  /** Signs a notification and sends it until it is acknowledged. */
  notify(tenant: string, kind: string, reference: string, fields: object = {}): void {
    const id = (this.#lastId += 1);
    this.#attempt(tenant, kind, reference, fields, id, 1);
  }

  #attempt(
    tenant: string,
    kind: string,
    reference: string,
    fields: object,
    id: number,
    number: number,
  ): void {
    const { time, timeline } = this.world;
    // The contract shows only `reference`. A service may also send the attempt's number, so that no
    // two bodies are equal.
    const body = JSON.stringify({
      reference,
      ...fields,
      ...(this.world.tellsAttempt ? { attempt: number } : {}),
    });
    const signature = createHmac('sha256', this.secrets.get(tenant)!).update(body).digest('hex');
    const notification: Notification = {
      id,
      tenant,
      kind,
      reference,
      body,
      signature,
      signedFor: tenant,
    };
    this.sent.push(notification);
    this.world.post(notification, ATTEMPT_TIMEOUT, (status) => {
      timeline.tell(
        'service',
        `${kind} ${tenant}/${reference}, attempt ${number}: ${status ?? 'no answer'}`,
      );
      if ((status !== undefined && status < 300) || number === ATTEMPTS) return;
      const wait =
        Math.min(LONGEST_RETRY, FIRST_RETRY * 2 ** (number - 1)) * (0.5 + time.random.next());
      time.after(wait, () => this.#attempt(tenant, kind, reference, fields, id, number + 1), null);
    });
  }

  /** Returns the API for a merchant's client of this tenant. */
  fetchFor(tenant: string): typeof fetch {
    const { time, faults } = this.world;
    const reach = (input: unknown, init: RequestInit = {}): Promise<Response> => {
      const caller = time.acting;
      return new Promise<Response>((resolve, reject) => {
        const answer = (settle: () => void): void =>
          void time.after(faults.delay(), settle, caller);
        if (faults.strikes('cut')) {
          answer(() => reject(new TypeError('fetch failed')));
          return;
        }
        // A lost request is never answered: the client's own limit ends it.
        if (faults.strikes('lost')) return;
        time.after(
          faults.delay(),
          () => {
            const reply = faults.strikes('apiRefuses')
              ? this.#refusal()
              : this.#answerTo(tenant, String(input), init);
            if (faults.strikes('cut')) answer(() => reject(new TypeError('fetch failed')));
            else if (!faults.strikes('lost')) answer(() => resolve(reply));
          },
          null,
        );
      });
    };
    return reach;
  }

  #refusal(): Response {
    const status = this.world.faults.random.chance(0.5) ? 429 : 503;
    const seconds = String(1 + this.world.faults.random.below(20));
    return response(
      status,
      { error: { code: 'busy', message: 'busy' } },
      { 'retry-after': seconds },
    );
  }

  #answerTo(tenant: string, url: string, { method, body, headers }: RequestInit): Response {
    const ledger = this.ledgerOf(tenant);
    if (method === 'POST') {
      const { reference, amount } = JSON.parse(body as string) as {
        reference: string;
        amount: number;
      };
      const key = (headers as Record<string, string>)['Idempotency-Key'];
      const created = ledger.create({ reference, price: { amount }, singleUse: true }, key);
      return response(created.status, JSON.parse(created.body) as object);
    }
    const reference = decodeURIComponent(url.slice(url.lastIndexOf('/') + 1));
    const link = ledger.findByReference(reference);
    if (link === undefined)
      return response(404, { error: { code: 'not_found', message: 'there is no such payment' } });
    return response(200, ledger.paymentOf(link));
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
