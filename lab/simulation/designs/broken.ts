/**
 * Thirteen common designs that lose money. Each changes one part of `paylink.ts`, and the
 * simulation must find it.
 */
import { createHash } from 'node:crypto';
import { createReceiver, verifySignature, type WebhookEvent } from '@paylink/core';
import { identify, memoryStore, WebhookError } from '@paylink/payments';
import { SQL } from '../statements.js';
import type { Design, Running, Surroundings } from './design.js';
import {
  clientsOf,
  naive,
  oneUpdate,
  onPostgres,
  recipe,
  startPaylink,
  type Credit,
  type Host,
  type Parts,
  type Queryable,
  type Rows,
  type Store,
} from './paylink.js';

/** @param change replaces a part of the server. The other parts come from `paylink.ts` */
function broken(
  description: string,
  parts: Parts,
  change: (surroundings: Surroundings, credit: Credit) => Partial<Running> = () => ({}),
): Design {
  return {
    description,
    broken: true,
    refunds: false,
    // Lets the simulation find each design by its own fault.
    comparesAmounts: false,
    start: (surroundings) => ({
      ...startPaylink(surroundings, parts),
      ...change(surroundings, parts.credit),
    }),
  };
}

/** Reads and writes the marks outside the handler's transaction. */
function overPool({ pool }: Surroundings) {
  const query = (text: string, values: readonly unknown[]): Promise<Rows> =>
    pool.query(text, values) as Promise<Rows>;
  return {
    query,
    isDone: async (key: string) => (await query(SQL.lookUp, [key])).rows.length > 0,
    mark: async (key: string) => (await query(SQL.mark, [key])).rowCount === 1,
    /** Runs `work` in its own transaction. */
    transaction: async (
      work: (tx: Queryable) => Promise<void>,
      beforeCommit: () => void = () => undefined,
    ): Promise<void> => {
      const client = await pool.connect();
      try {
        await client.query('BEGIN');
        await work(client as unknown as Queryable);
        const committing = client.query('COMMIT');
        beforeCommit();
        await committing;
        client.release();
      } catch (error) {
        client.release(true);
        throw error;
      }
    },
  };
}

const markFirst = (surroundings: Surroundings): Store => {
  const { isDone, mark, transaction } = overPool(surroundings);
  return {
    isDone,
    async run(key, work) {
      if (!(await mark(key))) return 'duplicate';
      await transaction(work);
      return 'done';
    },
  };
};

const creditFirst = (surroundings: Surroundings): Store => {
  const { isDone, mark, transaction } = overPool(surroundings);
  return {
    isDone,
    async run(key, work) {
      if (await isDone(key)) return 'duplicate';
      await transaction(work);
      await mark(key);
      return 'done';
    },
  };
};

/** Runs one delivery at a time, and keeps no marks. */
const leaseAlone = (surroundings: Surroundings): Store => {
  const { world, life } = surroundings;
  const redis = world.redis.clientFor(life);
  const { transaction } = overPool(surroundings);
  return {
    isDone: async () => false,
    async run(key, work) {
      if (!(await redis.setIfAbsent(`lease ${key}`, '1', 30_000))) return 'in_progress';
      try {
        await transaction(work);
      } finally {
        await redis.del(`lease ${key}`);
      }
      return 'done';
    },
  };
};

/**
 * A lease, and a mark that commits with the credit, but no check for a lease that has ended
 * meanwhile.
 */
const noFence = (surroundings: Surroundings): Store => {
  const { world, life } = surroundings;
  const redis = world.redis.clientFor(life);
  const { isDone, transaction } = overPool(surroundings);
  let leases = 0;
  return {
    isDone,
    async run(key, work) {
      const lease = `${life.name} ${(leases += 1)}`;
      if (!(await redis.setIfAbsent(`lease ${key}`, lease, 10_000))) return 'in_progress';
      try {
        if (await isDone(key)) return 'duplicate';
        await transaction(async (tx) => {
          await work(tx);
          await tx.query(SQL.mark, [key]);
        });
        return 'done';
      } finally {
        if ((await redis.get(`lease ${key}`)) === lease) await redis.del(`lease ${key}`);
      }
    },
  };
};

/** Reports done when it sends COMMIT. */
const doneBeforeCommit = (surroundings: Surroundings): Store => {
  const { isDone, transaction } = overPool(surroundings);
  return {
    isDone,
    run: (key, work) =>
      new Promise((resolve, reject) => {
        const inTransaction = async (tx: Queryable): Promise<void> => {
          if ((await tx.query(SQL.mark, [key])).rowCount === 0) throw new Duplicate();
          await work(tx);
        };
        transaction(inTransaction, () => resolve('done')).catch((error: unknown) => {
          if (error instanceof Duplicate) resolve('duplicate');
          else reject(error);
        });
      }),
  };
};

class Duplicate extends Error {}

const inMemory = (surroundings: Surroundings): Store => {
  const memory = memoryStore();
  const { transaction } = overPool(surroundings);
  return {
    isDone: (key) => memory.isDone(key),
    run: (key, work, options) => memory.run(key, () => transaction(work), options),
  };
};

/** A receiver that verifies the bytes, but believes the header about their meaning. */
function trustTheHeader(surroundings: Surroundings, credit: Credit): Pick<Running, 'receive'> {
  const { world } = surroundings;
  const store = onPostgres(surroundings);
  return {
    async receive({ path, kind, body, signature }) {
      try {
        await verifySignature(body, signature, world.secrets.get(path));
      } catch {
        return 401;
      }
      if (kind !== 'payment.succeeded') return 200;
      const { reference } = JSON.parse(new TextDecoder().decode(body)) as {
        readonly reference: string;
      };
      const { key, turn } = await identify({ tenant: path, kind, reference });
      const work = async (tx: Queryable): Promise<void> => {
        await credit(tx, { tenant: path, reference, amount: undefined });
      };
      try {
        const { signal } = new AbortController();
        return (await store.run(key, work, { signal, turn })) === 'in_progress' ? 503 : 200;
      } catch (error) {
        return error instanceof WebhookError ? error.status : 500;
      }
    },
  };
}

type KeyOf = (event: WebhookEvent) => Promise<string> | string;

const ownKey: KeyOf = async ({ tenant, reference }) =>
  (await identify({ tenant, kind: 'payment.succeeded', reference })).key;
const keyOfBody: KeyOf = ({ rawBody }) => createHash('sha256').update(rawBody).digest('hex');

/** Paylink's verification with a hand-written credit, which may ask the service first. */
function handleByHand({ asks, keyOf }: { readonly asks: boolean; readonly keyOf: KeyOf }) {
  return (surroundings: Surroundings, credit: Credit): Pick<Running, 'receive'> => {
    const { world, log } = surroundings;
    const store = onPostgres(surroundings);
    const clients = clientsOf(surroundings);
    const receiver = createReceiver(
      {
        secret: ({ path }: Host) => ({ secret: world.secrets.get(path)!, tenant: path }),
        logger: { warn: log, error: log },
      },
      async (event, { signal, path: tenant }) => {
        const { reference } = event;
        const payment = asks
          ? await clients.get(tenant)!.getPayment(reference, { signal })
          : undefined;
        if (payment !== undefined && payment.status !== 'success')
          throw new WebhookError('payment_pending');
        const { turn } = await identify({ tenant, kind: event.type, reference });
        const work = async (tx: Queryable): Promise<void> => {
          await credit(tx, { tenant, reference, amount: payment?.amount });
        };
        const result = await store.run(await keyOf(event), work, { signal, turn });
        if (result === 'in_progress') throw new WebhookError('in_progress');
      },
    );
    return {
      async receive({ path, kind, body, signature }, told) {
        const headers: Readonly<Record<string, string>> = {
          'x-service-signature': signature,
          'x-service-event': kind,
        };
        const delivery = {
          method: 'POST',
          header: (name: string) => headers[name],
          body: async () => body,
        };
        const { status } = await receiver.receive(delivery, { path });
        told(kind === 'payment.succeeded' ? 'handled' : 'ignored');
        return status;
      },
    };
  };
}

/**
 * Checks that the order is unpaid, asks the service, and credits, in a transaction without a mark.
 */
function creditOnReturn(surroundings: Surroundings, credit: Credit): Pick<Running, 'settle'> {
  const { query, transaction } = overPool(surroundings);
  const clients = clientsOf(surroundings);
  return {
    async settle(tenant, reference) {
      const { rows } = await query(SQL.readOrder, [tenant, reference]);
      if (rows[0]?.['paid'] === true) return { status: 'success', credited: false };
      const { status, amount } = await clients.get(tenant)!.getPayment(reference);
      if (status !== 'success')
        return { status: status === 'unknown' ? 'pending' : status, credited: false };
      await transaction(async (tx) => {
        await credit(tx, { tenant, reference, amount });
      });
      return { status, credited: true };
    },
  };
}

/** Reports 1 row, however many rows its UPDATE changed. */
const alwaysOne: Credit = async (tx, paid) => {
  await oneUpdate(tx, paid);
  return 1;
};

export const brokenDesigns = {
  'mark-first': broken('the mark commits before the credit', { store: markFirst, credit: naive }),
  'credit-first': broken('the credit commits before the mark', {
    store: creditFirst,
    credit: naive,
  }),
  'lease-alone': broken('a lease, and no memory of what is done', {
    store: leaseAlone,
    credit: naive,
  }),
  'no-fence': broken('a lease and a mark, and nothing that stops a run whose lease has ended', {
    store: noFence,
    credit: naive,
  }),
  'header-trusted': broken(
    'the signature is checked, and the unsigned header says what happened',
    { store: onPostgres, credit: recipe },
    trustTheHeader,
  ),
  'no-confirm': broken(
    'a handler credits a relabelled notification, because it does not ask the service',
    { store: onPostgres, credit: recipe },
    handleByHand({ asks: false, keyOf: ownKey }),
  ),
  'done-before-commit': broken('acknowledged when COMMIT is sent, not when it is answered', {
    store: doneBeforeCommit,
    credit: naive,
  }),
  'in-memory': broken('what is done is forgotten at a restart', { store: inMemory, credit: naive }),
  'key-by-body': broken(
    'the key is a hash of the body',
    { store: onPostgres, credit: naive },
    handleByHand({ asks: true, keyOf: keyOfBody }),
  ),
  'tenant-left-out': broken('two tenants share the keys of their orders', {
    store: onPostgres,
    credit: recipe,
    tenantOf: () => false,
    paymentsEach: true,
  }),
  'tenant-named-later': broken(
    'a release gives the merchant a name, so that all earlier marks are lost',
    {
      store: onPostgres,
      credit: naive,
      // A process runs the new release after its restart.
      tenantOf: (path, { world, life }) =>
        path === world.tenants[0] && life.number === 1 ? false : path,
    },
  ),
  'return-page-outside': broken(
    'the return page credits outside of the store',
    { store: onPostgres, credit: naive },
    creditOnReturn,
  ),
  'count-made-up': broken('the credit says 1 row, however many rows its UPDATE changed', {
    store: onPostgres,
    credit: alwaysOne,
  }),
} satisfies Record<string, Design>;
