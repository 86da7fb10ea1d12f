import { randomUUID } from 'node:crypto';
import { Hono, type Context } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import type { JSX } from 'hono/jsx/jsx-runtime';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { readAmount } from '../../payments/entered-amount.js';
import type { Ledger } from '../../payments/ledger.js';
import { chooseLanguage, type Language } from '../language.js';
import { answerPage, seeOther } from '../response.js';
import { HOSTED_STYLE, sourceOfText } from '../style.js';
import { ClosedPage, MessagePage, PayPage } from './pay-page.js';
import type { Link } from '../../payments/payment.js';
import { report } from '../../report.js';
import { isFromOwnPage } from '../../server/request-guard.js';

const STYLE_SOURCE = sourceOfText(HOSTED_STYLE);

// Fits a page id and an amount, with room to spare.
const FORM_BYTES = 4_096;

/**
 * Creates the payment page: `{pay_url}/link/<token>` (docs/service.md 1.4). Works without
 * JavaScript.
 */
export function createHostedPage(ledger: Ledger): Hono {
  const app = new Hono();

  app.use(async (c, next) => {
    if (c.req.method === 'POST' && !isFromOwnPage(c.req.raw)) return message(c, 'refused', 403);
    return next();
  });
  app.use(bodyLimit({ maxSize: FORM_BYTES, onError: (c) => message(c, 'refused', 413) }));

  app.get('/:token', (c) => {
    const link = ledger.find(c.req.param('token'));
    if (link === undefined) return message(c, 'notFound', 404);
    return ledger.isPayable(link) ? payPage(c, link) : closedPage(c, link);
  });

  app.get('/:token/receipt', (c) => {
    const link = ledger.find(c.req.param('token'));
    if (link === undefined) return message(c, 'notFound', 404);
    return link.status === 'success' ? closedPage(c, link) : seeOther(c, pathOf(link));
  });

  app.post('/:token/pay', async (c) => {
    const link = ledger.find(c.req.param('token'));
    if (link === undefined) return message(c, 'notFound', 404);
    const form = new URLSearchParams(await c.req.text());
    const page = form.get('page');
    if (page === null || !/^[0-9a-f-]{36}$/.test(page)) return message(c, 'refused', 400);
    const entered = form.get('amount') ?? '';
    const amount = readAmount(link.price, entered);
    // A page that was already sent keeps its outcome, even with another amount.
    if (amount === undefined)
      return ledger.isPayable(link) ? payPage(c, link, entered) : seeOther(c, pathOf(link));
    if (ledger.pay(link.token, amount, page) === 'refused') return seeOther(c, pathOf(link));
    return seeOther(c, link.returnUrl ?? `${pathOf(link)}/receipt`);
  });

  app.post('/:token/cancel', (c) => {
    const link = ledger.find(c.req.param('token'));
    if (link === undefined) return message(c, 'notFound', 404);
    const isCancelled = ledger.settle(link.token, 'cancelled');
    // After paying a reusable link, a customer cancels only the present visit.
    const leaves = isCancelled || ledger.isPayable(link);
    return seeOther(c, leaves && link.cancelUrl !== undefined ? link.cancelUrl : pathOf(link));
  });

  app.post('/:token/fail', (c) => {
    const link = ledger.find(c.req.param('token'));
    if (link === undefined) return message(c, 'notFound', 404);
    ledger.settle(link.token, 'failed');
    return seeOther(c, pathOf(link));
  });

  app.all('*', (c) => message(c, 'notFound', 404));
  app.onError((error, c) => {
    report(error);
    return message(c, 'refused', 500);
  });
  return app;
}

function pathOf({ token }: Link): string {
  return `/link/${token}`;
}

function payPage(c: Context, link: Link, wrongAmount?: string): Promise<Response> {
  const language = languageOf(c);
  const page = (
    <PayPage link={link} language={language} page={randomUUID()} wrongAmount={wrongAmount} />
  );
  return answer(c, language, page, wrongAmount === undefined ? 200 : 422, link);
}

function closedPage(c: Context, link: Link): Promise<Response> {
  const language = languageOf(c);
  return answer(c, language, <ClosedPage link={link} language={language} />, 200, link);
}

function message(
  c: Context,
  about: 'notFound' | 'refused',
  status: ContentfulStatusCode,
): Promise<Response> {
  const language = languageOf(c);
  return answer(c, language, <MessagePage language={language} about={about} />, status);
}

function languageOf(c: Context): Language {
  return chooseLanguage(c.req.header('accept-language'));
}

function answer(
  c: Context,
  language: Language,
  page: JSX.Element,
  status: ContentfulStatusCode,
  link?: Link,
): Promise<Response> {
  return answerPage(c, { page, language, status, policy: contentSecurityPolicy(link) });
}

function contentSecurityPolicy(link: Link | undefined): string {
  // Browsers also check the redirect after a form against form-action, so the policy names the
  // merchant's pages.
  const targets = [link?.returnUrl, link?.cancelUrl]
    .filter((url) => url !== undefined)
    .map(sourceOf);
  const formAction = ["'self'", ...new Set(targets)].join(' ');
  return (
    `default-src 'none'; style-src ${STYLE_SOURCE}; img-src data:; form-action ` +
    `${formAction}; base-uri 'none'; frame-ancestors 'none'`
  );
}

function sourceOf(text: string): string {
  const { hostname, origin, protocol } = new URL(text);
  // The grammar of a policy does not allow IPv6 addresses.
  return hostname.startsWith('[') ? protocol : origin;
}
