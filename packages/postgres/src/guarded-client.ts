import type { PgClient } from './databases.js';
import { guard, type Guard } from './guard.js';
import { controlOf } from './transaction-control.js';

/** The client of a transaction as a handler gets it: what would end the transaction, or the connection, is refused. */
export function guardClient<Client extends PgClient>(client: Client): Guard<Client> {
  return guard(client, {
    query(...values: unknown[]) {
      if (controlOf(values[0]) !== undefined) {
        throw new Error(
          'the store begins and ends the transaction of `tx`: throw to roll it back, and use SAVEPOINT and ROLLBACK TO for a part of it',
        );
      }
      return (client as { query(...values: unknown[]): unknown }).query(...values);
    },
    // Code that takes a client and releases it in the end is welcome: the store gives the connection back.
    release: () => undefined,
    end: refuse('end'),
    connect: refuse('connect'),
  });
}

function refuse(name: string): () => never {
  return () => {
    throw new Error(`tx.${name}() is not for handlers: the connection is the store's`);
  };
}
