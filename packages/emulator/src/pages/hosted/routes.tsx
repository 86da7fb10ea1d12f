import { randomUUID } from 'node:crypto';
import type { Context, Hono } from 'hono';
import type { JSX } from 'hono/jsx/jsx-runtime';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { Link } from '../../contract/payment.js';
import { parseEnteredAmount } from '../../payments/entered-amount.js';
import type { Ledger } from '../../payments/ledger.js';
import { createPages, type Message } from '../create-pages.js';
import { answerPage, readForm, seeOther } from '../response.js';
import { HOSTED_STYLE } from '../style.js';
import { clip } from '../visible.js';
import { ClosedPage, MerchantContext, MessagePage, PayPage } from './pay-page.js';

/** The most characters of a refused amount that the page shows again. */
const ENTERED_LENGTH = 40;

/**
 * Creates the payment page: `{pay_url}/link/<token>` (docs/service.md 1.4). Works without
 * JavaScript.
 */
export function createHostedPage(ledger: Ledger, merchant: string | undefined): Hono {
  const answer = (c: Context, content: JSX.Element, status: ContentfulStatusCode, link?: Link) => {
    // Browsers also check the redirect after a form against the policy, so it names the merchant's
    // pages.
    const ways = [link?.return_url, link?.cancel_url].filter((url) => url !== undefined);
    const page = <MerchantContext.Provider value={merchant}>{content}</MerchantContext.Provider>;
    return answerPage(c, { page, status, style: HOSTED_STYLE, formTargets: ways });
  };

  const message: Message = (c, about, status) => answer(c, <MessagePage about={about} />, status);

  const closedPage = (c: Context, link: Link) => answer(c, <ClosedPage link={link} />, 200, link);

  function payPage(c: Context, link: Link) {
    const text = c.req.query('amount');
    const isWrong = text !== undefined && parseEnteredAmount(link, text) === undefined;
    const props = { link, page: randomUUID(), entered: { text: text ?? '', isWrong } };
    return answer(c, <PayPage {...props} />, 200, link);
  }

  return createPages(ledger, message, (add) => {
    add('GET', '/:token', (c, link) =>
      ledger.isPayable(link) ? payPage(c, link) : closedPage(c, link),
    );

    add('GET', '/:token/receipt', (c, link) =>
      link.status === 'success' ? closedPage(c, link) : seeOther(c, pathOf(link)),
    );

    add('POST', '/:token/pay', async (c, link) => {
      const form = await readForm(c);
      const page = form.get('page');
      if (page === null || !/^[0-9a-f-]{36}$/.test(page)) return message(c, 'refused', 400);
      const entered = form.get('amount') ?? '';
      const amount = parseEnteredAmount(link, entered);
      if (amount === undefined) {
        const shown = encodeURIComponent(clip(entered, ENTERED_LENGTH));
        return seeOther(c, `${pathOf(link)}?amount=${shown}`);
      }
      if (ledger.pay(link.token, amount, { page }) === 'refused') return seeOther(c, pathOf(link));
      return seeOther(c, link.return_url ?? `${pathOf(link)}/receipt`);
    });

    add('POST', '/:token/cancel', (c, link) => {
      const isCancelled = ledger.settle(link.token, 'cancelled');
      // After paying a reusable link, a customer cancels only the present visit.
      const leaves = isCancelled || ledger.isPayable(link);
      return seeOther(c, leaves ? (link.cancel_url ?? pathOf(link)) : pathOf(link));
    });

    add('POST', '/:token/fail', (c, link) => {
      ledger.settle(link.token, 'failed');
      return seeOther(c, pathOf(link));
    });
  });
}

function pathOf({ token }: Link): string {
  return `/link/${token}`;
}
