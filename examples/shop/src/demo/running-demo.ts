import { randomBytes } from 'node:crypto';
import { PGlite } from '@electric-sql/pglite';
import { startEmulator, type Emulator } from '@paylink/emulator';
import { close, listen } from '../listen.js';
import { Orders } from '../orders.js';
import { createShop } from '../shop.js';

export interface RunningDemo {
  readonly shopUrl: string;
  readonly emulator: Emulator;
  close(): Promise<void>;
}

/** Starts the shop with an embedded database, and beside it the emulator that plays the payment service. */
export async function startDemo(port: number): Promise<RunningDemo> {
  const { server, url: shopUrl } = await listen(port);
  const db = new PGlite();
  let emulator: Emulator | undefined;
  const closeAll = async (): Promise<void> => {
    await emulator?.close();
    await close(server);
    await db.close();
  };
  try {
    const webhookSecret = randomBytes(32).toString('hex');
    emulator = await startEmulator({ webhook: { url: `${shopUrl}/webhooks/payments`, secret: webhookSecret } });
    const orders = await Orders.open(db);
    server.on('request', createShop({ orders, shopUrl, service: emulator, payUrl: emulator.payUrl, webhookSecret }));
    return { shopUrl, emulator, close: closeAll };
  } catch (error) {
    await closeAll();
    throw error;
  }
}
