import type { PaylinkClient } from '@paylink/client';
import { paymentWebhook } from '@paylink/express';
import type { Payments } from '@paylink/payments';
import express, {
  type ErrorRequestHandler,
  type Express,
  type Request,
  type Response,
} from 'express';
import type { Html } from './html.js';
import { orderEvents } from './live.js';
import { settleOrder, type CameFrom } from './order-state.js';
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

/** Milliseconds that a customer waits for the payment page. */
const CHECKOUT_TIMEOUT = 5_000;

/** The whole shop: one product, its orders, and the webhook that marks them as paid. */
export function createShop(options: ShopOptions): Express {
  const { orders, payments, paylink, shopUrl, payUrl, webhookSecret } = options;
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

  app.post('/orders', sameOrigin(shopUrl), async (req, res) => {
    const reference = orders.create(BASKET.id, BASKET.price);
    const orderUrl = new URL(`/orders/${reference}`, shopUrl).href;
    try {
      const { url } = await paylink.createPaymentLink(
        {
          amount: BASKET.price.amount,
          reference,
          description: BASKET.name[languageOf(req)],
          return_url: `${orderUrl}?from=payment`,
          cancel_url: `${orderUrl}?from=cancel`,
          // The notification names the order and not the payment, so customers pay only once.
          single_use: true,
        },
        // One key per order: a retry after a network failure creates no second link.
        { idempotencyKey: reference, signal: AbortSignal.timeout(CHECKOUT_TIMEOUT) },
      );
      orders.setPayUrl(reference, url);
      res.redirect(303, url);
    } catch (error) {
      console.error(`[shop] no payment link for ${reference}:`, error);
      // The page says that the payment could not be prepared, and offers a new order.
      res.redirect(303, orderUrl);
    }
  });

  // The customer comes back here, often before the notification: settle credits the order now.
  app.get('/orders/:reference', async (req, res) => {
    const language = languageOf(req);
    const order = orders.find(req.params.reference);
    if (order === undefined) {
      send(res.status(404), messagePage(TEXTS[language].noOrder, language));
      return;
    }
    const state = await settleOrder(order, payments, cameFrom(req));
    send(res, orderPage(order, state, language));
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

function cameFrom({ query }: Request): CameFrom {
  return query['from'] === 'payment' || query['from'] === 'cancel' ? query['from'] : undefined;
}

function send(res: Response, page: Html): void {
  res.type('html').send(page.text);
}
