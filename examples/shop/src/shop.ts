import type { PaylinkClient } from '@paylink/client';
import { paymentWebhook } from '@paylink/express';
import type { Payments } from '@paylink/payments';
import express, {
  type ErrorRequestHandler,
  type Express,
  type Request,
  type Response,
} from 'express';
import { Checkout } from './checkout.js';
import type { Html } from './html.js';
import { orderEvents } from './live.js';
import { settleOrder } from './order-state.js';
import type { ShopOrders } from './orders.js';
import { contentSecurityPolicy, messagePage, orderPage, productPage } from './pages.js';
import { BASKET } from './product.js';
import { sameOrigin } from './same-origin.js';
import { LANGUAGES, TEXTS, type Language } from './texts.js';

export interface ShopOptions {
  readonly orders: ShopOrders;
  readonly payments: Payments;
  /** The payment service's API, which creates the links. */
  readonly paylink: PaylinkClient;
  /** The shop's address. */
  readonly shopUrl: string;
  /** The address of the pay pages, which the shop's forms may lead to. */
  readonly payUrl: string;
  readonly webhookSecret: string | undefined;
}

/** The whole shop: one product, its orders, and the webhook that marks them as paid. */
export function createShop(options: ShopOptions): Express {
  const { orders, payments, paylink, shopUrl, payUrl, webhookSecret } = options;
  const checkout = new Checkout(orders, paylink, shopUrl);
  const app = express();
  app.disable('x-powered-by');

  // Above every parser: the signature covers the raw bytes, and a parser would consume them.
  app.post('/webhooks/payments', paymentWebhook({ secret: webhookSecret }, payments.receive));

  const policy = contentSecurityPolicy(new URL(payUrl).origin);
  app.use((_req, res, next) => {
    res.set({
      'Content-Security-Policy': policy,
      'X-Content-Type-Options': 'nosniff',
      'Referrer-Policy': 'same-origin',
      'Cache-Control': 'no-store',
      Vary: 'Accept-Language',
    });
    next();
  });
  app.use(express.urlencoded({ extended: false, limit: '10kb' }));

  app.get('/', (req, res) => {
    send(res, productPage(BASKET, languageOf(req)));
  });

  app.post('/{*path}', sameOrigin(shopUrl));

  app.post('/orders', async (req, res) => {
    const { id, name, price } = BASKET;
    const reference = orders.create(id, name[languageOf(req)], price);
    res.redirect(303, await checkout.open(orders.find(reference)!));
  });

  app.post('/orders/:reference/attempts', async (req, res) => {
    const order = orders.find(req.params.reference);
    if (order === undefined) sendNoOrder(req, res);
    else res.redirect(303, await checkout.tryAgain(order));
  });

  // The customer comes back here, often before the notification: settle credits the order now.
  app.get('/orders/:reference', async (req, res) => {
    const order = orders.find(req.params.reference);
    if (order === undefined) {
      sendNoOrder(req, res);
      return;
    }
    const standing = await settleOrder(order, payments, req.query['from'] === 'payment');
    send(res, orderPage(order, standing, languageOf(req)));
  });

  app.get('/orders/:reference/events', orderEvents(orders));

  app.get('/api/orders/:reference', (req, res) => {
    const order = orders.find(req.params.reference);
    if (order === undefined) res.status(404).json({ error: 'not_found' });
    else res.json(order);
  });

  app.use((req, res) => {
    const language = languageOf(req);
    send(res.status(404), messagePage(TEXTS[language].notFound, language));
  });
  app.use(reportError);
  return app;
}

const reportError: ErrorRequestHandler = (error: unknown, req, res, next) => {
  const language = languageOf(req);
  const { status } = error as { readonly status?: unknown };
  const isVisitors = typeof status === 'number' && status >= 400 && status < 500;
  if (!isVisitors) console.error('[shop]', error);
  if (res.headersSent) next(error);
  else if (isVisitors) send(res.status(status), messagePage(TEXTS[language].unreadable, language));
  else send(res.status(500), messagePage(TEXTS[language].failed, language));
};

function languageOf(req: Request): Language {
  return (req.acceptsLanguages([...LANGUAGES]) || 'en') as Language;
}

function sendNoOrder(req: Request, res: Response): void {
  const language = languageOf(req);
  send(res.status(404), messagePage(TEXTS[language].noOrder, language));
}

function send(res: Response, page: Html): void {
  res.type('html').send(page.text);
}
