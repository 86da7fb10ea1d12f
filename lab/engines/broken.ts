/** Tests engines that cannot work or have a wrong clock. The money must stay safe. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdtemp, open, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { paymentWebhook } from '@paylink/express';
import { createPayments } from '@paylink/payments';
import { postgresStore } from '@paylink/postgres';
import pg from 'pg';
import { Book } from '../durability/book.js';
import { creditOrder } from '../durability/credit-order.js';
import { genuine, SECRET } from '../durability/delivery.js';
import { openMerchant, type Merchant } from '../durability/merchant.js';
import { Random } from '../durability/random.js';
import { isAcknowledged, Sender } from '../durability/sender.js';
import { paidService } from '../durability/service.js';
import { startPostgres, type PostgresServer } from '../../test/servers/postgres.js';
import type { Found } from './suites.js';

/** A merchant's shop in this process, with its own database. */
class Shop {
  merchant: Merchant;
  sender: Sender;

  private constructor(
    readonly book: Book,
    merchant: Merchant,
  ) {
    this.merchant = merchant;
    this.sender = senderTo(merchant);
  }

  static async open(
    server: PostgresServer,
    name: string,
    url?: (book: Book) => string,
  ): Promise<Shop> {
    const book = await Book.open(server, name);
    return new Shop(book, await openReceiver(url?.(book) ?? book.url));
  }

  /** Restarts the receiver, which forgets its orders. */
  async restart(): Promise<void> {
    this.sender.close();
    await this.merchant.close();
    this.merchant = await openReceiver(this.book.url);
    this.sender = senderTo(this.merchant);
  }

  async deliver(reference: string): Promise<boolean> {
    const status = await this.sender.attempt(genuine(reference));
    return status !== undefined && isAcknowledged(status);
  }

  /** Returns the orders that are not credited exactly once. */
  async wrong(references: readonly string[]): Promise<string[]> {
    const rows = await this.book.query<{ reference: string }>(
      `SELECT reference FROM unnest($1::text[]) AS reference LEFT JOIN credits USING (reference)
       GROUP BY reference HAVING count(credits.reference) <> 1`,
      [references],
    );
    return rows.map(({ reference }) => reference);
  }

  async close(): Promise<void> {
    this.sender.close();
    await this.merchant.close();
    await this.book.close();
  }
}

const senderTo = ({ port }: Merchant): Sender => new Sender([port], new Random(1));

function openReceiver(database: string): Promise<Merchant> {
  return openMerchant({
    database,
    webhook: (pool) =>
      paymentWebhook(
        { secret: SECRET, logger: silent },
        createPayments({
          client: paidService,
          store: postgresStore(pool, { logger: silent }),
          credit: (payment, { tx }) => creditOrder(tx, payment),
        }),
      ),
  });
}

const silent = { warn: () => undefined, error: () => undefined };

/**
 * A pooler that gives each statement another connection: no order may be acknowledged or credited.
 */
export async function failsSafe(server: PostgresServer, pooled: PostgresServer): Promise<Found> {
  const shop = await Shop.open(server, 'statement_mode', ({ url }) => {
    const through = new URL(url);
    through.port = String(pooled.port);
    return through.href;
  });
  try {
    const references = await shop.book.addOrders(20);
    const acknowledged: string[] = [];
    // Otherwise nothing would be refused for its mode.
    await shop.merchant.pool.query('SELECT 1');
    for (const reference of references)
      if (await shop.deliver(reference)) acknowledged.push(reference);
    const [row] = await shop.book.query<{ credits: number; marks: number }>(
      'SELECT (SELECT count(*) FROM credits)::int AS credits, (SELECT count(*) FROM ' +
        'paylink_marks)::int AS marks',
    );
    const { credits, marks } = row!;
    const isSafe = acknowledged.length === 0 && credits === 0 && marks === 0;
    return {
      ran:
        `${references.length} deliveries: ${references.length - acknowledged.length} ` +
        `refused, ${credits} credited`,
      faults: isSafe
        ? []
        : [`${acknowledged.length} acknowledged, ${credits} credited, ${marks} marked`],
    };
  } finally {
    await shop.close();
  }
}

/** Megabytes of the file system: the cluster, its first log segments, and little more. */
const DISK = 160;

/** Fills the file system of a PostgreSQL, then frees it. */
export async function fullDisk(): Promise<Found | { readonly missing: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'paylink-disk-'));
  const mounted = spawnSync('mount', [
    '-t',
    'tmpfs',
    '-o',
    `size=${DISK}m,mode=755`,
    'tmpfs',
    folder,
  ]);
  if (mounted.status !== 0) {
    await rm(folder, { recursive: true, force: true });
    return { missing: 'this machine does not let a file system be mounted' };
  }
  let server: PostgresServer | undefined;
  let shop: Shop | undefined;
  try {
    await chmod(folder, 0o755);
    server = await startPostgres(
      { max_wal_size: '32MB', min_wal_size: '32MB' },
      { parent: folder },
    );
    shop = await Shop.open(server, 'full_disk');
    const references = await shop.book.addOrders(2_000);
    const acknowledged: string[] = [];
    for (const reference of references.slice(0, 20))
      if (await shop.deliver(reference)) acknowledged.push(reference);
    const filler = join(folder, 'filler');
    await fill(filler);
    let refused = 0;
    for (const reference of references.slice(20)) {
      if (await shop.deliver(reference)) acknowledged.push(reference);
      else refused++;
      if (refused >= 50) break;
    }
    await rm(filler);
    // A full disk may have ended the server. It recovers alone, or the supervisor restarts it.
    await untilUp(shop.book.url, server);
    const early = await shop.wrong(acknowledged);
    for (const reference of references) await shop.sender.untilAcknowledged(reference);
    const wrong = await shop.wrong(references);
    return {
      ran:
        `${acknowledged.length} acknowledged, ${refused} refused while it was full, ` +
        `${references.length} credited afterwards`,
      faults: [
        ...(refused === 0 || acknowledged.length < 20
          ? ['the disk was never full, or always']
          : []),
        ...(early.length === 0 ? [] : [`${early.length} acknowledged and not credited once`]),
        ...(wrong.length === 0
          ? []
          : [`${wrong.length} of ${references.length} not credited once in the end`]),
      ],
    };
  } finally {
    await shop?.close();
    await server?.close().catch(() => undefined);
    spawnSync('umount', ['-l', folder]);
    await rm(folder, { recursive: true, force: true });
  }
}

async function fill(path: string): Promise<void> {
  const file = await open(path, 'w');
  try {
    for (let size = 1 << 20; size >= 1; size = size >> 1) {
      const block = Buffer.alloc(size);
      try {
        for (;;) await file.write(block);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
      }
    }
  } finally {
    await file.close();
  }
}

async function untilUp(url: string, server: PostgresServer): Promise<void> {
  for (let tries = 1; ; tries++) {
    const client = new pg.Client({ connectionString: url });
    client.on('error', () => undefined);
    try {
      await client.connect();
      await client.query('SELECT 1');
      return;
    } catch (error) {
      if (tries === 100) throw error;
      // A no-op while the server runs, because the server holds the port.
      if (tries % 20 === 0) await server.start().catch(() => undefined);
      await new Promise((resolve) => setTimeout(resolve, 100));
    } finally {
      await client.end().catch(() => undefined);
    }
  }
}

const FAKETIME = ['x86_64', 'aarch64']
  .map((machine) => `/usr/lib/${machine}-linux-gnu/faketime/libfaketime.so.1`)
  .find((path) => existsSync(path));

const DAY = 86_400_000;
const JUMPS = [0, -2, 400, -400, 1, 0];

/**
 * Moves the clocks of the server and the receiver by days. Each order must still be credited once.
 */
export async function clockJumps(): Promise<Found | { readonly missing: string }> {
  if (FAKETIME === undefined) return { missing: 'libfaketime is not installed (Debian: faketime)' };
  const folder = await mkdtemp(join(tmpdir(), 'paylink-clock-'));
  const clock = join(folder, 'offset');
  const realNow = Date.now;
  let server: PostgresServer | undefined;
  let shop: Shop | undefined;
  try {
    await chmod(folder, 0o755);
    await writeFile(clock, '+0d\n');
    const env = {
      LD_PRELOAD: FAKETIME,
      FAKETIME_TIMESTAMP_FILE: clock,
      FAKETIME_NO_CACHE: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    };
    server = await startPostgres({}, { env });
    shop = await Shop.open(server, 'clock_jumps');
    const references = await shop.book.addOrders(20 * JUMPS.length);
    const faults: string[] = [];
    for (const [index, days] of JUMPS.entries()) {
      await writeFile(clock, `${days < 0 ? '' : '+'}${days}d\n`);
      Date.now = () => realNow() + days * DAY;
      const [row] = await shop.book.query<{ off: number }>(
        'SELECT extract(epoch FROM clock_timestamp())::float8 * 1000 AS off',
      );
      const off = Math.round((row!.off - realNow()) / DAY);
      if (off !== days) faults.push(`the server's clock is off by ${off} days and not by ${days}`);
      await shop.restart();
      // New orders, and a replay of every earlier one: the mark answers first, then the receiver's
      // memory.
      for (const reference of references.slice(0, 20 * (index + 1))) {
        for (const from of ['mark', 'memory'])
          if (!(await shop.deliver(reference)))
            faults.push(`${reference} refused at ${days} days, by its ${from}`);
      }
    }
    const wrong = await shop.wrong(references);
    if (wrong.length > 0) faults.push(`${wrong.length} of ${references.length} not credited once`);
    return {
      ran: `${JUMPS.length} jumps of up to 800 days, ${references.length} orders and their replays`,
      faults,
    };
  } finally {
    Date.now = realNow;
    await shop?.close();
    await server?.close();
    await rm(folder, { recursive: true, force: true });
  }
}
