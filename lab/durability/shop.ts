/**
 * A merchant's server with its book and senders, and a proxy in front of the database, for fault
 * tests.
 */
import { expect, vi } from 'vitest';
import type { ExpressMiddleware } from '@paylink/express';
import type { Pool } from 'pg';
import type { PostgresServer } from '../../test/servers/postgres.js';
import { Book } from './book.js';
import { genuine } from './delivery.js';
import { openMerchant, type Merchant } from './merchant.js';
import { Random } from './random.js';
import { isAcknowledged, Sender } from './sender.js';
import { WireProxy } from './wire-proxy.js';

export interface ShopSettings {
  /** The most database connections. Default 5. */
  readonly connections?: number;
  readonly webhook: (pool: Pool, book: Book) => ExpressMiddleware;
}

let opened = 0;

export class Shop {
  readonly book: Book;
  readonly proxy: WireProxy;
  readonly merchant: Merchant;
  readonly sender: Sender;

  private constructor(book: Book, proxy: WireProxy, merchant: Merchant) {
    this.book = book;
    this.proxy = proxy;
    this.merchant = merchant;
    this.sender = new Sender([merchant.port], new Random(1));
  }

  static async open(server: PostgresServer, { webhook, ...settings }: ShopSettings): Promise<Shop> {
    const book = await Book.open(server, `shop_${(opened += 1)}`);
    const proxy = await WireProxy.before(server.port);
    const database = proxy.urlOf(book.url);
    const merchant = await openMerchant({
      ...settings,
      database,
      webhook: (pool) => webhook(pool, book),
    });
    return new Shop(book, proxy, merchant);
  }

  /** Adds an unpaid order. */
  async order(): Promise<string> {
    return (await this.book.addOrders(1))[0]!;
  }

  /**
   * Sends one notification. Returns its status, and fails on a 2xx for an order that is not
   * credited yet.
   */
  async notify(reference: string): Promise<number> {
    const status = await this.sender.attempt(genuine(reference));
    if (status === undefined) throw new Error('the connection was cut');
    if (isAcknowledged(status))
      expect(await this.book.creditsOf(reference), `credits of ${reference}, acknowledged`).toBe(1);
    return status;
  }

  /** Sends until acknowledged, and expects one credit. */
  async notifyUntilAcknowledged(reference: string): Promise<void> {
    await this.sender.untilAcknowledged(reference);
    expect(await this.book.creditsOf(reference), `credits of ${reference}`).toBe(1);
  }

  /** Expects every connection back in the pool, and no open transaction on the server. */
  async expectAtRest(): Promise<void> {
    await vi.waitFor(
      async () => {
        const { totalCount, idleCount, waitingCount } = this.merchant.pool;
        expect({ busy: totalCount - idleCount, waitingCount }).toEqual({
          busy: 0,
          waitingCount: 0,
        });
        const open =
          'SELECT query FROM pg_stat_activity WHERE datname = current_database() AND ' +
          "state LIKE 'idle in transaction%'";
        expect(await this.book.query(open)).toEqual([]);
      },
      { timeout: 30_000, interval: 20 },
    );
  }

  async close(): Promise<void> {
    this.sender.close();
    this.proxy.heal();
    await this.merchant.close();
    await this.proxy.close();
    await this.book.close();
  }
}
