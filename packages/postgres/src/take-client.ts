import type { PgClient, PgPool } from './databases.js';

/**
 * Takes a client of the pool, and listens for its errors from the first moment: the error of a connection that is out of its pool
 * ends the process where nobody listens. By callback, since the server can go away between a promise's resolution and the turn of
 * whoever awaits it.
 */
export function takeClient<Client extends PgClient>(pool: PgPool): Promise<Client> {
  return new Promise((resolve, reject) => {
    const listen = (client: Client): void => {
      client.on('error', ignore);
      resolve(client);
    };
    const connecting = (pool.connect as unknown as Connect<Client>).call(pool, (error, client) => {
      if (client === undefined) reject(error ?? new Error('the pool gave no client'));
      else listen(client);
    });
    // A pool that knows promises only.
    connecting?.then(listen, reject);
  });
}

type Connect<Client> = (done: (error: Error | undefined, client: Client | undefined) => void) => Promise<Client> | undefined;

/** For a client that went back to its pool: who uses it next is told of its errors by pg. */
export function stopListening(client: PgClient): void {
  (client as { off?(event: 'error', listener: () => void): void }).off?.('error', ignore);
}

function ignore(): void {
  // Its next statement fails.
}
