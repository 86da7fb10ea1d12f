/** Lists the causes of an outcome, who must act, and the next command. */
import type { Outcome } from '@paylink/payments';
import type { Commands } from './commands.js';
import type { Facts } from './facts.js';

export interface Cause {
  readonly cause: string;
  /** True if the facts leave no other explanation. */
  readonly proven: boolean;
  /** The command that decides whether this is the cause. */
  readonly check?: string;
}

/** Who acts next. */
type Turn = 'nobody' | 'the customer' | 'the schedule' | 'the service' | 'you';

export interface Advice {
  readonly turn: Turn;
  readonly causes: readonly Cause[];
  /** What to do. */
  readonly advice: string;
  /** The next command. */
  readonly next: string;
}

const proven = (cause: string): Cause => ({ cause, proven: true });
const possible = (cause: string, check?: string): Cause => ({
  cause,
  proven: false,
  ...(check === undefined ? {} : { check }),
});
const advise = (turn: Turn, advice: string, next: string, ...causes: Cause[]): Advice => ({
  turn,
  causes,
  advice,
  next,
});

export function adviceFor(facts: Facts, commands: Commands): Advice {
  return ADVICE[facts.outcome](facts, commands);
}

type Rule = (facts: Facts, commands: Commands) => Advice;

const unpaid =
  (cause: string): Rule =>
  (_facts, { readPayment }) =>
    advise(
      'the customer',
      'wait for another attempt, or send the customer a new link with its own reference',
      readPayment,
      proven(cause),
    );

const ADVICE: Readonly<Record<Outcome, Rule>> = {
  credited: (_facts, { reconcile, doctor, testOrders }) =>
    advise(
      'the schedule',
      'let the schedule try the credit, or try it now: reconcile prints the error if it fails',
      reconcile,
      proven('the service has the money, but the order is not marked as paid'),
      possible(
        'your server rejected or never received the notification (secret, path, parser)',
        doctor,
      ),
      possible('`credit` throws or changes no row, perhaps since a release', testOrders),
      possible(
        'the order was credited before it had the paid column, or a refund reset the column: if ' +
          'so, set the column again instead of crediting the order',
      ),
    ),

  paid: ({ verified }, { readPayment }) => {
    const refund = 'a refund keeps the paid column, so nothing credits the order again';
    const confirmed = 'the order is paid and credited, and the service confirms the payment';
    const unanswered = 'the order is paid, but the service did not answer';
    if (verified === 'confirmed') return advise('nobody', refund, readPayment, proven(confirmed));
    if (verified === undefined) return advise('nobody', refund, readPayment, possible(unanswered));
    return advise(
      'you',
      'compare the order with your bookkeeping by hand',
      readPayment,
      proven(`the order is paid in your database, but the service ${UNCONFIRMED[verified]!}`),
      possible('somebody marked the order paid by hand, or it was paid another way'),
      possible('the order changed after its credit'),
      possible('a statement other than `credit` writes the paid column'),
    );
  },

  pending: (_facts, { readPayment }) =>
    advise(
      'the customer',
      'wait, or send the customer the link again',
      readPayment,
      proven('the customer has not paid yet'),
    ),

  no_payment: (_facts, { createLink, readPayment }) =>
    advise(
      'you',
      'create the link if the customer still wants to pay',
      createLink,
      proven('the service has no payment with this reference'),
      possible('the link was never created: the customer left, or createPaymentLink failed'),
      possible('`baseUrl` or `apiKey` is wrong, or belongs to another account', readPayment),
    ),

  failed: unpaid('the payment failed, so the customer has not paid'),
  cancelled: unpaid('the customer cancelled the payment'),

  unknown_order: ({ reason, isNowhere, tenants }, commands) =>
    advise(
      'you',
      isNowhere
        ? 'compare the reference with the order in your shop, character by character'
        : 'find the order in the database of your server',
      isNowhere ? commands.explainOtherReference : commands.readPayment,
      proven(reason),
      ...(isNowhere ? [possible('the reference is mistyped: neither side knows it')] : []),
      possible(
        tenants.length === 0
          ? 'the order belongs to a merchant, so it needs --tenant'
          : `the order belongs to a merchant other than ${tenants.join(', ')}`,
        commands.explainOtherTenant,
      ),
      possible('this command reads a different database from your server: compare its settings'),
      possible('the order was deleted, or its reference is spelled differently'),
    ),

  order_closed: (_facts, { reconcile }) =>
    advise(
      'you',
      'refund the customer by hand, or reopen the order and then credit it',
      reconcile,
      proven('the customer paid after the order was closed'),
    ),

  amount_differs: ({ reason }, { reconcile, testOrders }) =>
    advise(
      'you',
      'refund the customer by hand, or correct the order and then credit it',
      reconcile,
      proven(reason),
      possible('the order changed after its link was created'),
      possible('two orders have this reference, and the other one was paid', testOrders),
    ),

  not_credited: ({ reason }, { testOrders }) =>
    advise('you', 'fix `credit`', testOrders, proven(reason)),

  invalid_order: ({ reason }, { testOrders }) =>
    advise('you', 'fix `find`', testOrders, proven(reason)),

  orders_unavailable: ({ reason, faults }, { explain }) =>
    advise(
      'you',
      'fix `find`, or start the database',
      explain,
      proven(reason),
      faults.some(isUnreached)
        ? proven("nothing answers at your database's address")
        : possible('the query of `find` is wrong, or the database rejects it'),
    ),

  confirm_unavailable: ({ reason, faults, isPaused }, { readPayment }) => {
    const setting = faults.find(({ code }) => code === 'misconfigured');
    const status = faults.find((fault) => fault.status !== undefined)?.status ?? 0;
    const fault = (turn: Turn, advice: string, cause: Cause): Advice =>
      advise(turn, advice, readPayment, proven(reason), cause);
    if (setting !== undefined)
      return advise(
        'you',
        'correct the setting',
        readPayment,
        proven(`a client setting is wrong: ${setting.message}`),
      );
    if (isPaused || status === 429)
      return fault(
        'the service',
        'wait: the next scheduled run asks again',
        proven('the service asks Paylink to wait'),
      );
    if (faults.some(isUnreached))
      return fault(
        'you',
        "compare PAYLINK_BASE_URL with the service's portal, and try again",
        possible('`baseUrl` has the wrong host, or the service is down'),
      );
    if (status === 401 || status === 403)
      return fault(
        'you',
        "compare PAYLINK_API_KEY with the service's portal",
        proven('the service rejects your API key'),
      );
    return fault(
      'the service',
      "try again later, and send the response to the service's support",
      possible('the service did not send a usable response'),
    );
  },

  handler_timeout: ({ reason, order }, { explain, readPayment }) =>
    // An order that was found was read in time, so the service was late.
    order !== null
      ? advise(
          'the service',
          'wait: the next scheduled run asks again',
          readPayment,
          proven(reason),
          possible('the service is slow, or the network between you and the service'),
        )
      : advise(
          'you',
          'end the transaction that locks the row',
          explain,
          proven(reason),
          possible('another transaction locks the row of this order'),
          possible('your database pool has no free connection'),
        ),
};

const UNCONFIRMED: Readonly<Record<string, string>> = {
  notPaid: 'does not',
  differs: 'has a different amount or currency',
  noPayment: 'has no payment with this reference',
};

const UNREACHABLE = /^(ECONN|ENOTFOUND|EAI_|ETIMEDOUT|EHOSTUNREACH|network_error|timeout$)/;
const isUnreached = ({ code }: Facts['faults'][number]): boolean => UNREACHABLE.test(code);
