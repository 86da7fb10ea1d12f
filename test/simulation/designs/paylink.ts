/** A merchant's server as the documentation builds it: the real core, client and stores. The broken designs change one part of it. */
import { createClient, reconcile, type ReconcileReport } from '@paylink/client';
import { createReceiver, WebhookError, type IdempotencyStore, type WebhookEvent } from '@paylink/core';
import { postgresStore } from '@paylink/postgres';
import { SQL } from '../statements.js';
import type { Receives, Running, Surroundings } from './design.js';

export interface Rows {
  readonly rows: readonly Readonly<Record<string, unknown>>[];
  readonly rowCount: number | null;
}

/** What runs a handler's statements: a transaction, or the pool. */
export interface Queryable {
  query(text: string, values?: readonly unknown[]): Promise<Rows>;
}

/** A payment to credit: of a tenant, with the amount that the service confirms where it was asked. */
export interface Paid {
  readonly tenant: string;
  readonly reference: string;
  readonly amount: number | undefined;
}

export type Credit = (tx: Queryable, paid: Paid) => Promise<void>;

/** The recipe: lock the order, refuse what is unknown or of another amount, leave what is paid, else credit. */
export const recipe: Credit = async (tx, { tenant, reference, amount }) => {
  const { rows } = await tx.query(SQL.lockOrder, [tenant, reference]);
  const [order] = rows;
  if (order === undefined) throw new WebhookError('unknown_order', { status: 503 });
  if (amount !== undefined && order['amount'] !== amount) throw new WebhookError('amount_differs', { status: 409 });
  if (order['paid'] === true) return;
  await tx.query(SQL.markPaid, [tenant, reference]);
  await tx.query(SQL.credit, [tenant, reference, order['amount'], 'credit']);
};

/** A handler that leaves it to the store alone that an order is credited once. */
export const naive: Credit = async (tx, { tenant, reference, amount }) => {
  const { rows } = await tx.query(SQL.readOrder, [tenant, reference]);
  const [order] = rows;
  if (order === undefined) throw new WebhookError('unknown_order', { status: 503 });
  if (amount !== undefined && order['amount'] !== amount) throw new WebhookError('amount_differs', { status: 409 });
  await tx.query(SQL.credit, [tenant, reference, order['amount'], 'credit']);
  await tx.query(SQL.markPaid, [tenant, reference]);
};

/** A handler that looks at nothing: one UPDATE, whose count it ignores. The store's guard has to notice an order that is not there. */
export const careless: Credit = async (tx, { tenant, reference }) => {
  await tx.query(SQL.payAndCount, [tenant, reference]);
};

const refund = async (tx: Queryable, tenant: string, reference: string): Promise<void> => {
  const { rows } = await tx.query(SQL.lockOrder, [tenant, reference]);
  const [order] = rows;
  if (order?.['paid'] !== true) throw new WebhookError('not_paid_yet', { status: 503 });
  await tx.query(SQL.credit, [tenant, reference, order['amount'], 'refund']);
};

export interface Parts {
  readonly store: (surroundings: Surroundings) => IdempotencyStore<{ readonly tx: Queryable }>;
  readonly credit: Credit;
  readonly confirm?: boolean;
  readonly refunds?: boolean;
  /** Default: the tenant of the path. */
  readonly tenant?: false;
  readonly key?: (event: WebhookEvent) => string;
}

interface Host {
  readonly path: string;
}

/** Any object: the simulation is about what is done with an event, not about its fields. */
const anyPayload = {
  '~standard': { version: 1, vendor: 'simulation', validate: (value: unknown) => ({ value: value as { reference: string } }) },
} as const;

export function startPaylink(surroundings: Surroundings, parts: Parts): Running {
  const { world, pool, log } = surroundings;
  const { credit, key } = parts;
  const logger = { warn: log, error: log };
  const store = parts.store(surroundings);
  const clients = new Map(
    world.tenants.map((tenant) => [
      tenant,
      createClient({
        baseUrl: 'https://service.example/api',
        apiKey: `sk_live_${tenant}.key`,
        fetch: world.service.fetchFor(tenant),
      }),
    ]),
  );
  const confirm = {
    getPayment: (reference: string, { signal, tenant }: { readonly signal: AbortSignal; readonly tenant?: string | undefined }) =>
      clients.get(tenant ?? world.tenants[0]!)!.getPayment(reference, { signal }),
  };
  // `tenant: false` still has to find the right key for the API, or every question would be another tenant's.
  const confirmByPath = (path: string) => ({
    getPayment: (reference: string, { signal }: { readonly signal: AbortSignal }) =>
      clients.get(path)!.getPayment(reference, { signal }),
  });

  // By what the hook tells of the delivery: it is called right before the reply.
  const outcomes = new Map<string, string>();
  const receivers = new Map(
    (parts.tenant === false ? world.tenants : ['']).map((path) => [
      path,
      createReceiver(
        {
          secret: ({ path: asked }: Host) => world.secrets.get(asked),
          events: parts.refunds === true ? { 'payment.refunded': anyPayload } : {},
          ...(parts.confirm === false ? {} : { confirm: path === '' ? confirm : confirmByPath(path) }),
          idempotency: key === undefined ? store : { store, key },
          tenant: parts.tenant ?? (({ path: asked }: Host) => asked),
          logger,
          observe: ({ outcome, type, reference }) => outcomes.set(`${type}:${reference}`, outcome),
        },
        async (event, context) => {
          const {
            tx,
            path: tenant,
            payment,
          } = context as unknown as Host & {
            readonly tx: Queryable;
            readonly payment?: { readonly amount?: number };
          };
          if (event.type === 'payment.succeeded') await credit(tx, { tenant, reference: event.reference, amount: payment?.amount });
          else await refund(tx, tenant, event.reference);
        },
      ),
    ]),
  );

  return {
    async receive({ path, kind, body, signature }: Receives, told) {
      const headers: Readonly<Record<string, string>> = { 'x-service-signature': signature, 'x-service-event': kind };
      const receiver = receivers.get(parts.tenant === false ? path : '')!;
      const { status } = await receiver.receive(
        { method: 'POST', header: (name) => headers[name], body: async () => body },
        { path },
      );
      const { reference } = JSON.parse(new TextDecoder().decode(body)) as { readonly reference: string };
      told(outcomes.get(`${kind}:${reference}`) ?? 'ignored');
      return status;
    },

    async reconcile() {
      const { rows } = (await pool.query(SQL.unpaid)) as Rows;
      const reports: ReconcileReport[] = [];
      for (const [tenant, client] of clients) {
        reports.push(
          await reconcile({
            client,
            references: rows.filter((row) => row['tenant'] === tenant).map(({ reference }) => String(reference)),
            idempotency: store,
            tenant: parts.tenant ?? tenant,
            onSuccess: ({ reference, amount }, { tx }) => credit(tx, { tenant, reference, amount }),
          }),
        );
      }
      return reports;
    },
  };
}

/** `postgresStore` on the simulated pool. */
export const onPostgres = ({ pool }: Surroundings): IdempotencyStore<{ readonly tx: Queryable }> =>
  postgresStore(pool as never, { schema: 'public' }) as unknown as IdempotencyStore<{ readonly tx: Queryable }>;
