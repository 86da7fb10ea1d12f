import { createServer, type Server } from 'node:http';
import { paymentWebhook } from '@paylink/express';
import { createPayments, memoryStore } from '@paylink/payments';
import type { Random } from '../durability/random.js';
import { freePort } from '../../test/servers/starting.js';
import express, { type NextFunction, type Request, type Response } from 'express';

/** The faults of a request with their frequencies, 30 of 100 together. */
const TROUBLES = [
  { share: 0.15, happen: answer500 },
  { share: 0.07, happen: cutBefore },
  { share: 0.06, happen: cutAfter },
  { share: 0.02, happen: hang },
] as const;

/** A merchant with Paylink's Express middleware and frequent faults. */
export class BadReceiver {
  readonly secret = 'the secret of a merchant in a bad way';
  /** The number of credits by reference. */
  readonly credited = new Map<string, number>();
  /** The number of requests, and of those with a fault. */
  arrived = 0;
  troubled = 0;
  #server: Server | undefined;
  #port = 0;
  #healthy = false;
  readonly #app = express();

  constructor(random: Random) {
    const payments = createPayments({
      // The emulator runs in another process and only notifies of successful payments.
      client: { getPayment: async (reference: string) => ({ reference, status: 'success' }) },
      store: memoryStore(),
      credit: ({ reference }) => {
        this.credited.set(reference, (this.credited.get(reference) ?? 0) + 1);
        return 1;
      },
    });
    this.#app.post(
      '/webhooks/payments',
      (req, res, next) => {
        this.arrived += 1;
        this.#maybeFail(random.next(), req, res, next);
      },
      paymentWebhook({ secret: this.secret }, payments),
    );
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}/webhooks/payments`;
  }

  /** Listens. After `die`, uses the same port. */
  async live(): Promise<void> {
    this.#port ||= await freePort();
    const server = createServer(this.#app);
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject).listen(this.#port, '127.0.0.1', resolve);
    });
    this.#server = server;
  }

  /** Breaks every connection and accepts no more. */
  async die(): Promise<void> {
    const server = this.#server;
    if (server === undefined) return;
    this.#server = undefined;
    const closed = new Promise((resolve) => server.close(resolve));
    server.closeAllConnections();
    await closed;
  }

  /** Ends all faults. */
  recover(): void {
    this.#healthy = true;
  }

  #maybeFail(chance: number, req: Request, res: Response, next: NextFunction): void {
    let bound = 0;
    const trouble = TROUBLES.find(({ share }) => chance < (bound += share));
    if (this.#healthy || trouble === undefined) {
      next();
      return;
    }
    this.troubled += 1;
    trouble.happen(req, res, next);
  }
}

function answer500(_: Request, res: Response): void {
  res.status(500).end();
}

function cutBefore(req: Request): void {
  req.socket.destroy();
}

/** Credits the order, but the service never gets the answer. */
function cutAfter(req: Request, res: Response, next: NextFunction): void {
  res.writeHead = () => {
    req.socket.destroy();
    return res;
  };
  res.end = () => res;
  next();
}

function hang(): void {
  // The service must give up.
}
