import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient, type PaylinkClient } from '@paylink/client';
import { startEmulator, type Emulator } from '@paylink/emulator';
import type { Payments } from '@paylink/payments';
import { openDatabase } from '../database.js';
import { close, listen } from '../listen.js';
import { ShopOrders } from '../orders.js';
import { openPayments, ordersIn } from '../payments.js';
import { startSchedule } from '../schedule.js';
import { createShop } from '../shop.js';
import { releaseOf, type Release } from './release.js';

export interface RunningDemo {
  readonly shopUrl: string;
  readonly emulator: Emulator;
  /** The shop's own client of the service. */
  readonly paylink: PaylinkClient;
  readonly payments: Payments;
  /** The release of the shop that is running. */
  readonly release: Release;
  /** Runs the shop's schedule at once, and then every minute. */
  readonly startSchedule: () => void;
  close(): Promise<void>;
}

/** Milliseconds between two runs. Every run asks the service about each unpaid order. */
const INTERVAL = 60_000;

/** Starts the shop on one SQLite file, and the emulator that plays the payment service. */
export async function startDemo(port: number): Promise<RunningDemo> {
  const { server, url: shopUrl } = await listen(port);
  const folder = mkdtempSync(join(tmpdir(), 'paylink-shop-'));
  const closing: (() => Promise<void> | void)[] = [
    () => close(server),
    () => rmSync(folder, { recursive: true, force: true }),
  ];
  const closeAll = async (): Promise<void> => {
    for (const step of closing.splice(0)) await step();
  };
  try {
    const db = openDatabase(join(folder, 'shop.db'));
    closing.splice(1, 0, () => void db.close());
    const webhook = {
      url: `${shopUrl}/webhooks/payments`,
      secret: randomBytes(32).toString('hex'),
    };
    const emulator = await startEmulator({ webhook, merchant: 'Baobab' });
    closing.unshift(() => emulator.close());

    const { baseUrl, apiKey, payUrl, webhookSecret } = emulator;
    const paylink = createClient({ baseUrl, apiKey });
    const release = releaseOf(ordersIn(db));
    const payments = openPayments(paylink, release.orders);
    const orders = new ShopOrders(db);
    const options = { orders, payments, paylink, shopUrl, payUrl, webhookSecret };
    server.on('request', createShop(options));
    const schedule = (): void => {
      closing.unshift(startSchedule(payments, INTERVAL));
    };
    return {
      shopUrl,
      emulator,
      paylink,
      payments,
      release,
      startSchedule: schedule,
      close: closeAll,
    };
  } catch (error) {
    await closeAll();
    throw error;
  }
}
