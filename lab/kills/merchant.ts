/**
 * A merchant's server in a process of its own, which kills itself at the step that its parent
 * names. Runs from a bundle, because a bundle starts in a third of the time.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises';
import { paymentWebhook } from '@paylink/node';
import { createPayments } from '@paylink/payments';
import { openDatabase, ordersOf, type EngineName } from '../../test/money/engines.js';
import type { Design, Step } from './kills.js';

export interface MerchantSettings {
  readonly name: EngineName;
  readonly url: string;
  readonly design: Design;
  readonly secret: string;
}

const { design, secret, ...engine } = JSON.parse(process.argv[2]!) as MerchantSettings;

let armed: Step | undefined;
const reach = (step: Step): void => {
  if (step === armed) process.kill(process.pid, 'SIGKILL');
};

const shop = ordersOf({
  pool: await openDatabase(engine),
  reader: await openDatabase(engine),
  reach,
  isConditional: design === 'right',
});
const credited = new Set<string>();
const payments = createPayments({
  orders: {
    ...shop,
    async find(reference, context) {
      const order = await shop.find(reference, context);
      reach(credited.delete(reference) ? 'found again' : 'found');
      return order;
    },
    async credit(payment, context) {
      credited.add(payment.reference);
      // Gives the other process time to read the unpaid order.
      if (design === 'unconditional') await sleep(100);
      return shop.credit(payment, context);
    },
  },
  // The service: each order is paid.
  client: {
    async getPayment(reference) {
      await turn();
      reach('confirmed');
      return { reference, status: 'success', amount: 1_000, currency: 'XOF' };
    },
  },
});
const webhook = paymentWebhook({ secret }, async (event, context) => {
  await payments.receive(event, context);
  reach('replying');
});

const server = createServer((req, res) => {
  const { pathname, searchParams } = new URL(req.url!, 'http://localhost');
  const answer = async (): Promise<unknown> => {
    if (pathname === '/settle') return payments.settle(searchParams.get('reference')!);
    if (pathname === '/reconcile') return payments.reconcile();
    return undefined;
  };
  if (pathname === '/webhook') void webhook(req, res);
  else
    answer().then(
      (body) => res.end(JSON.stringify(body)),
      () => res.writeHead(500).end(),
    );
});
server.listen(0, '127.0.0.1', () => {
  process.send!({ port: (server.address() as AddressInfo).port });
});
process.on('message', (step: Step) => {
  armed = step;
  process.send!({ armed: step });
});
process.on('disconnect', () => process.exit());
