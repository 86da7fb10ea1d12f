/**
 * A merchant's server as documented, with the real packages. The broken designs change one part.
 */
import { createClient, type PaylinkClient } from '@paylink/client';
import { createReceiver } from '@paylink/core';
import {
  createPayments,
  WebhookError,
  type CreditResult,
  type Payments,
  type PaymentStore,
  type ReconcileReport,
} from '@paylink/payments';
import { postgresStore } from '@paylink/postgres';
import { SQL } from '../statements.js';
import type { Receives, Running, Surroundings } from './design.js';

export interface Rows {
  readonly rows: readonly Readonly<Record<string, unknown>>[];
  readonly rowCount: number | null;
}

/** Runs a merchant's statements: a transaction, or the pool. */
export interface Queryable {
  query(text: string, values?: readonly unknown[]): Promise<Rows>;
}

export type Store = PaymentStore<Queryable>;

/** A payment to credit, with the amount that the service confirmed if asked. */
export interface Paid {
  readonly tenant: string;
  readonly reference: string;
  readonly amount: number | undefined;
}

export type Credit = (tx: Queryable, paid: Paid) => Promise<CreditResult>;

/**
 * The recipe: lock the order, refuse an unknown order or another amount, skip a paid order,
 * otherwise credit.
 */
export const recipe: Credit = async (tx, { tenant, reference, amount }) => {
  const { rows } = await tx.query(SQL.lockOrder, [tenant, reference]);
  const [order] = rows;
  if (order === undefined) throw new WebhookError('unknown_order', { status: 503 });
  if (order['paid'] === true) return 'already_credited';
  if (amount !== undefined && order['amount'] !== amount)
    throw new WebhookError('amount_differs', { status: 409 });
  const { rowCount } = await tx.query(SQL.markPaid, [tenant, reference]);
  await tx.query(SQL.credit, [tenant, reference, order['amount'], 'credit']);
  return rowCount;
};

/** Relies on the store alone for a single credit. */
export const naive: Credit = async (tx, { tenant, reference, amount }) => {
  const { rows } = await tx.query(SQL.readOrder, [tenant, reference]);
  const [order] = rows;
  if (order === undefined) throw new WebhookError('unknown_order', { status: 503 });
  if (amount !== undefined && order['amount'] !== amount)
    throw new WebhookError('amount_differs', { status: 409 });
  const { rowCount } = await tx.query(SQL.credit, [tenant, reference, order['amount'], 'credit']);
  await tx.query(SQL.markPaid, [tenant, reference]);
  return rowCount;
};

/** One UPDATE with its row count. A missing order has 0 rows. */
export const oneUpdate: Credit = async (tx, { tenant, reference }) => {
  const { rowCount } = await tx.query(SQL.payAndCount, [tenant, reference]);
  return rowCount;
};

const refund = async (tx: Queryable, tenant: string, reference: string): Promise<void> => {
  const { rows } = await tx.query(SQL.lockOrder, [tenant, reference]);
  const [order] = rows;
  if (order?.['paid'] !== true) throw new WebhookError('not_paid_yet', { status: 503 });
  await tx.query(SQL.credit, [tenant, reference, order['amount'], 'refund']);
};

export interface Parts {
  readonly store: (surroundings: Surroundings) => Store;
  readonly credit: Credit;
  readonly refunds?: boolean;
  /** Names the merchant of a path in this life of a process. Default: by the path. */
  readonly tenantOf?: (path: string, surroundings: Surroundings) => string | false;
  /** Set if each merchant has its own payments over a shared marks table. */
  readonly paymentsEach?: boolean;
}

export interface Host {
  readonly path: string;
}

/** Accepts any object, because the simulation tests an event's effects, not its fields. */
export const anyPayload = {
  '~standard': {
    version: 1,
    vendor: 'simulation',
    validate: (value: unknown) => ({ value: value as { reference: string } }),
  },
} as const;

/** Returns a client of the service per merchant. */
export function clientsOf({ world }: Surroundings): ReadonlyMap<string, PaylinkClient> {
  return new Map(
    world.tenants.map((tenant) => [
      tenant,
      createClient({
        baseUrl: 'https://service.example/api',
        apiKey: `sk_live_${tenant}.key`,
        fetch: world.service.fetchFor(tenant),
      }),
    ]),
  );
}

export function startPaylink(surroundings: Surroundings, parts: Parts): Running {
  const { world, pool, log } = surroundings;
  const { credit, paymentsEach = false, tenantOf = (path: string) => path } = parts;
  const logger = { warn: log, error: log };
  const store = parts.store(surroundings);
  const clients = clientsOf(surroundings);

  const paymentsFor = (pathOf: (tenant: string | undefined) => string): Payments =>
    createPayments({
      client: (tenant) => clients.get(pathOf(tenant))!,
      store,
      credit: ({ reference, amount }, { tx, tenant }) =>
        credit(tx, { tenant: pathOf(tenant), reference, amount }),
      handlers:
        parts.refunds === true
          ? {
              'payment.refunded': ({ reference }, { tx, tenant }) =>
                refund(tx, pathOf(tenant), reference),
            }
          : {},
      logger,
    });

  // The outcomes from the hook, which runs right before the reply.
  const outcomes = new Map<string, string>();
  const shopFor = (payments: Payments) => ({
    payments,
    receiver: createReceiver(
      {
        secret: ({ path }: Host) => ({
          secret: world.secrets.get(path)!,
          tenant: tenantOf(path, surroundings),
        }),
        events: parts.refunds === true ? { 'payment.refunded': anyPayload } : {},
        logger,
        observe: ({ outcome, type, reference }) => outcomes.set(`${type}:${reference}`, outcome),
      },
      payments,
    ),
  });
  const shared = shopFor(paymentsFor((tenant) => tenant ?? world.tenants[0]!));
  const shops = new Map(
    world.tenants.map((path) => [path, paymentsEach ? shopFor(paymentsFor(() => path)) : shared]),
  );

  return {
    async receive({ path, kind, body, signature }: Receives, told) {
      const headers: Readonly<Record<string, string>> = {
        'x-service-signature': signature,
        'x-service-event': kind,
      };
      const delivery = {
        method: 'POST',
        header: (name: string) => headers[name],
        body: async () => body,
      };
      const { status } = await shops.get(path)!.receiver.receive(delivery, { path });
      const { reference } = JSON.parse(new TextDecoder().decode(body)) as {
        readonly reference: string;
      };
      told(outcomes.get(`${kind}:${reference}`) ?? 'ignored');
      return status;
    },

    settle: (path, reference) =>
      shops.get(path)!.payments.settle(reference, { tenant: tenantOf(path, surroundings) }),

    async reconcile() {
      const { rows } = (await pool.query(SQL.unpaid)) as Rows;
      const reports: ReconcileReport[] = [];
      for (const [path, { payments }] of shops) {
        const references = rows
          .filter(({ tenant }) => tenant === path)
          .map(({ reference }) => String(reference));
        reports.push(
          await payments.reconcile(references, { tenant: tenantOf(path, surroundings) }),
        );
      }
      return reports;
    },
  };
}

/** `postgresStore` on the simulated pool. */
export const onPostgres = ({ pool, log }: Surroundings): Store =>
  postgresStore(pool as never, {
    schema: 'public',
    logger: { warn: log, error: log },
  });
