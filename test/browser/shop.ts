import { randomUUID } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import type { Server } from 'node:http';
import { startEmulator, type Emulator, type EmulatorOptions } from '@paylink/emulator';
import { paymentWebhook } from '@paylink/express';
import { createPayments, memoryOrders } from '@paylink/payments';
import express from 'express';
import { vi } from 'vitest';

/** A merchant with Paylink's Express middleware, and the emulated service. */
export interface Shop {
  readonly emulator: Emulator;
  readonly thanks: string;
  readonly basket: string;
  /** The references of handled notifications, in their order. */
  readonly credited: readonly string[];
  /**
   * Creates a link as the merchant's server does, and returns its page's address. Omits undefined
   * fields.
   */
  createLink(fields?: Readonly<Record<string, unknown>>): Promise<string>;
  /** Returns the payment from the API. */
  readPayment(reference: string): Promise<ApiPayment>;
  /**
   * Returns the number of notifications of a payment. First pays another link and waits for all
   * deliveries, so that pending ones count.
   */
  timesCredited(reference: string): Promise<number>;
  close(): Promise<void>;
}

interface ApiPayment {
  readonly reference: string;
  readonly status: 'pending' | 'success' | 'failed' | 'cancelled';
  readonly amount: number;
  readonly currency: string;
}

const SECRET = 'the secret of a shop that only a test has';

export interface ShopOptions extends Pick<EmulatorOptions, 'assumed'> {
  /**
   * Credits each order once, after the API confirms it. Default false: then every notification
   * shows.
   */
  readonly isCareful?: boolean;
}

export async function openShop({ assumed, isCareful = false }: ShopOptions = {}): Promise<Shop> {
  const credited: string[] = [];
  // Shorter than the default, so that a slow sender times out soon.
  const options = { secret: SECRET, bodyTimeout: 2_000 };
  const handlers = ({ reference }: { reference: string }) => void credited.push(reference);
  const { orders, add } = memoryOrders();
  const payments = createPayments({
    client: { getPayment: (reference: string) => readPayment(reference) },
    orders: {
      ...orders,
      async credit(payment, context) {
        const rows = await orders.credit(payment, context);
        if (rows === 1) credited.push(payment.reference);
        return rows;
      },
    },
  });
  const server = await listen(
    express()
      .post('/webhooks/payments', paymentWebhook(options, isCareful ? payments.receive : handlers))
      .get('/thanks', (_, res) => void res.send(pageOf('Thank you')))
      .get('/basket', (_, res) => void res.send(pageOf('Your basket'))),
  );
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const emulator = await startEmulator({
    webhook: { url: `${origin}/webhooks/payments`, secret: SECRET },
    assumed,
  });
  const thanks = `${origin}/thanks`;
  const basket = `${origin}/basket`;
  const headers = {
    Authorization: `Bearer ${emulator.apiKey}`,
    'Content-Type': 'application/json',
  };

  function post(fields: Readonly<Record<string, unknown>>): Promise<Response> {
    const body = JSON.stringify({
      description: 'A basket',
      return_url: thanks,
      cancel_url: basket,
      ...fields,
    });
    return fetch(`${emulator.baseUrl}/v1/payment-links`, { method: 'POST', headers, body });
  }

  async function readPayment(reference: string): Promise<ApiPayment> {
    const response = await fetch(
      `${emulator.baseUrl}/v1/payments/${encodeURIComponent(reference)}`,
      { headers },
    );
    return (await response.json()) as ApiPayment;
  }

  async function createLink(fields: Readonly<Record<string, unknown>> = {}): Promise<string> {
    const link = {
      reference: randomUUID(),
      ...('amount_min' in fields ? {} : { amount: 15_000 }),
      ...fields,
    } as { reference: string; amount?: number; amount_min: number; amount_max: number };
    const amount = link.amount ?? { min: link.amount_min, max: link.amount_max };
    if (isCareful) add({ reference: link.reference, amount, currency: 'XOF' });
    const response = await post(link);
    if (response.status !== 201) throw new Error(`${response.status} ${await response.text()}`);
    return ((await response.json()) as { url: string }).url;
  }

  return {
    emulator,
    thanks,
    basket,
    credited,
    createLink,
    readPayment,
    async timesCredited(reference) {
      const marker = randomUUID();
      await createLink({ reference: marker });
      await emulator.pay(marker);
      await vi.waitUntil(
        () =>
          credited.includes(marker) &&
          emulator.deliveries().every(({ state }) => state !== 'pending'),
        {
          timeout: 10_000,
        },
      );
      return credited.filter((entry) => entry === reference).length;
    },
    async close() {
      await emulator.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function listen(app: express.Express): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = app.listen(0, '127.0.0.1', (error?: Error) => {
      if (error === undefined) resolve(server);
      else reject(error);
    });
  });
}

function pageOf(title: string): string {
  return `<!doctype html><html lang="en"><link rel="icon" href="data:,"><title>${title}</title><h1>${title}</h1></html>`;
}
