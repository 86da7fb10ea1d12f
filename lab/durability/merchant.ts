import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ExpressMiddleware } from '@paylink/express';
import express, { type NextFunction, type Request, type Response } from 'express';
import pg from 'pg';
import { PATH } from './delivery.js';

/** A merchant's server in this process, for tests without kills. */
export interface Merchant {
  readonly port: number;
  readonly pool: pg.Pool;
  /** The errors that reached the application's error handler. */
  readonly errors: unknown[];
  close(): Promise<void>;
}

export interface MerchantSettings {
  readonly database: string;
  /** Default 5. */
  readonly connections?: number;
  readonly webhook: (pool: pg.Pool) => ExpressMiddleware;
}

export async function openMerchant({
  database,
  connections = 5,
  webhook,
}: MerchantSettings): Promise<Merchant> {
  const pool = new pg.Pool({ connectionString: database, max: connections });
  pool.on('error', () => undefined);
  const errors: unknown[] = [];
  const app = express();
  app.post(PATH, webhook(pool));
  app.use((error: unknown, _req: Request, res: Response, _next: NextFunction) => {
    errors.push(error);
    res.sendStatus(500);
  });
  const server: Server = app.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    pool,
    errors,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
      // Not awaited: a connection that a handler still holds would block this, and the test has
      // already checked for that.
      void pool.end();
    },
  };
}
