/** Ten ways in which people do lose money. Each changes one part of what `paylink.ts` builds, and the simulation has to find it. */
import { createHash } from 'node:crypto';
import { memoryStore, verifySignature, WebhookError, type IdempotencyStore } from '@paylink/core';
import { SQL } from '../statements.js';
import type { Design, Surroundings } from './design.js';
import { naive, onPostgres, recipe, startPaylink, type Parts, type Queryable, type Rows } from './paylink.js';

type Store = IdempotencyStore<{ readonly tx: Queryable }>;

function broken(description: string, parts: Parts): Design {
  return {
    description,
    broken: true,
    refunds: parts.refunds ?? false,
    // So that each is found by its own fault.
    comparesAmounts: false,
    start: (surroundings) => startPaylink(surroundings, parts),
  };
}

/** Reads and writes the marks outside of the handler's transaction. */
function overPool({ pool }: Surroundings) {
  const query = (text: string, values: readonly unknown[]): Promise<Rows> => pool.query(text, values) as Promise<Rows>;
  return {
    query,
    isDone: async (key: string) => (await query(SQL.lookUp, [key])).rows.length > 0,
    mark: async (key: string) => (await query(SQL.mark, [key])).rowCount === 1,
    /** Runs `work` in a transaction of its own. */
    transaction: async (work: (tx: Queryable) => Promise<void>, beforeCommit: () => void = () => undefined): Promise<void> => {
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
      await transaction((tx) => work({ tx }));
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
      await transaction((tx) => work({ tx }));
      await mark(key);
      return 'done';
    },
  };
};

/** Lets one at a time run, and remembers nothing. */
const leaseAlone = (surroundings: Surroundings): Store => {
  const { world, life } = surroundings;
  const redis = world.redis.clientFor(life);
  const { transaction } = overPool(surroundings);
  return {
    isDone: async () => false,
    async run(key, work) {
      if (!(await redis.setIfAbsent(`lease ${key}`, '1', 30_000))) return 'in_progress';
      try {
        await transaction((tx) => work({ tx }));
      } finally {
        await redis.del(`lease ${key}`);
      }
      return 'done';
    },
  };
};

/** A lease, and a mark that commits with the credit, but nothing that stops a run whose lease has ended meanwhile. */
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
          await work({ tx });
          await tx.query(SQL.mark, [key]);
        });
        return 'done';
      } finally {
        if ((await redis.get(`lease ${key}`)) === lease) await redis.del(`lease ${key}`);
      }
    },
  };
};

/** Says done as soon as COMMIT is on its way. */
const doneBeforeCommit = (surroundings: Surroundings): Store => {
  const { isDone, transaction } = overPool(surroundings);
  return {
    isDone,
    run: (key, work) =>
      new Promise((resolve, reject) => {
        const inTransaction = async (tx: Queryable): Promise<void> => {
          if ((await tx.query(SQL.mark, [key])).rowCount === 0) throw new Duplicate();
          await work({ tx });
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
    run: (key, work, options) => memory.run(key, () => transaction((tx) => work({ tx })), options),
  };
};

/** A receiver of its own that proves the bytes, and takes the header's word for what they mean. */
function startTrustingTheHeader(surroundings: Surroundings): ReturnType<typeof startPaylink> {
  const { world } = surroundings;
  const store = onPostgres(surroundings);
  const parts: Parts = { store: () => store, credit: recipe };
  return {
    reconcile: () => startPaylink(surroundings, parts).reconcile(),
    async receive({ path, kind, body, signature }) {
      try {
        await verifySignature(body, signature, world.secrets.get(path));
      } catch {
        return 401;
      }
      if (kind !== 'payment.succeeded') return 200;
      const { reference } = JSON.parse(new TextDecoder().decode(body)) as { readonly reference: string };
      const { signal } = new AbortController();
      const work = ({ tx }: { readonly tx: Queryable }): Promise<void> =>
        recipe(tx, { tenant: path, reference, amount: undefined });
      try {
        const result = await store.run(createHash('sha256').update(`${path} ${kind}:${reference}`).digest('hex'), work, { signal });
        return result === 'in_progress' ? 503 : 200;
      } catch (error) {
        return error instanceof WebhookError ? error.status : 500;
      }
    },
  };
}

export const brokenDesigns = {
  'mark-first': broken('the mark commits before the credit', { store: markFirst, credit: naive }),
  'credit-first': broken('the credit commits before the mark', { store: creditFirst, credit: naive }),
  'lease-alone': broken('a lease, and no memory of what is done', { store: leaseAlone, credit: naive }),
  'no-fence': broken('a lease and a mark, and nothing that stops a run whose lease has ended', { store: noFence, credit: naive }),
  'header-trusted': {
    description: 'the signature is checked, and the unsigned header says what happened',
    broken: true,
    refunds: false,
    comparesAmounts: false,
    start: startTrustingTheHeader,
  },
  'no-confirm': broken('a relabelled notification is not asked about', { store: onPostgres, credit: recipe, confirm: false }),
  'done-before-commit': broken('acknowledged when COMMIT is sent, not when it is answered', {
    store: doneBeforeCommit,
    credit: naive,
  }),
  'in-memory': broken('what is done is forgotten at a restart', { store: inMemory, credit: naive }),
  'key-by-body': broken('the key is a hash of the body', {
    store: onPostgres,
    credit: naive,
    key: ({ rawBody }) => createHash('sha256').update(rawBody).digest('hex'),
  }),
  'tenant-left-out': broken('two tenants share the keys of their orders', { store: onPostgres, credit: recipe, tenant: false }),
} satisfies Record<string, Design>;
