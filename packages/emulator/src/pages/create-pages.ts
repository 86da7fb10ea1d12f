import { Hono, type Context } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { report } from '../base/report.js';
import type { Link } from '../contract/payment.js';
import type { Ledger } from '../payments/ledger.js';
import { isFromOwnPage } from '../server/request-guard.js';

type Answer = Response | Promise<Response>;

/** Answers with a page that has only a message. */
export type Message = (
  c: Context,
  about: 'notFound' | 'refused',
  status: ContentfulStatusCode,
) => Answer;

/** Adds a route with the parameter `token`. Without its link, the route answers 404. */
type AddRoute = (
  method: 'GET' | 'POST',
  path: string,
  answer: (c: Context, link: Link) => Answer,
) => void;

// Fits a page id and an amount, with room to spare.
const FORM_BYTES = 4_096;

/** Creates pages that take small forms, only from themselves, and answer failures with a page. */
export function createPages(
  ledger: Ledger,
  message: Message,
  addRoutes: (add: AddRoute, app: Hono) => void,
): Hono {
  const app = new Hono();
  app.use(async (c, next) => {
    if (c.req.method === 'POST' && !isFromOwnPage(c.req.raw)) return message(c, 'refused', 403);
    return next();
  });
  app.use(bodyLimit({ maxSize: FORM_BYTES, onError: (c) => message(c, 'refused', 413) }));
  const add: AddRoute = (method, path, answer) =>
    app.on(method, path, (c) => {
      const link = ledger.find(c.req.param('token') ?? '');
      return link === undefined ? message(c, 'notFound', 404) : answer(c, link);
    });
  addRoutes(add, app);
  // Hono ignores `notFound` of a mounted app.
  app.all('*', (c) => message(c, 'notFound', 404));
  app.onError((error, c) => {
    report(error);
    return message(c, 'refused', 500);
  });
  return app;
}
