/** Names the causes of an outcome, whose turn it is, and the next command. */
import type { Outcome } from '@paylink/payments';
import type { Facts } from './facts.js';

export interface Cause {
  readonly cause: string;
  /** True if the facts leave no other explanation. */
  readonly proven: boolean;
  /** The command that decides whether this is the cause. */
  readonly check?: string;
}

export interface Advice {
  /** Who acts next. */
  readonly turn: 'nobody' | 'the customer' | 'the schedule' | 'the service' | 'you';
  readonly causes: readonly Cause[];
  /** What to do. */
  readonly advice: string;
  /** The next command. */
  readonly next: string;
}

/** The commands that an advice can name, complete for a shell. */
export interface Commands {
  readonly explain: string;
  /** `explain` with another merchant. */
  readonly explainOther: string;
  readonly reconcile: string;
  readonly verify: string;
  /** Checks the webhook. */
  readonly doctor: string;
  /** Checks `orders` on the database. */
  readonly testOrders: string;
  readonly createLink: string;
  readonly readPayment: string;
}

const proven = (cause: string): Cause => ({ cause, proven: true });
const possible = (cause: string, check?: string): Cause => ({
  cause,
  proven: false,
  ...(check === undefined ? {} : { check }),
});

export function adviceFor(facts: Facts, commands: Commands): Advice {
  const advice = ADVICE[facts.outcome](facts, commands);
  const { timesListed = 0 } = facts;
  if (timesListed < 2) return advice;
  return {
    turn: 'you',
    causes: [
      proven(
        `${timesListed} orders have this reference, so Paylink cannot tell which one was paid`,
      ),
      ...advice.causes,
    ],
    advice: 'decide by hand which order was paid, and give the reference a unique index',
    next: commands.testOrders,
  };
}

const ADVICE: Readonly<Record<Outcome, (facts: Facts, commands: Commands) => Advice>> = {
  credited: (_facts, { reconcile, doctor, testOrders }) => ({
    turn: 'the schedule',
    causes: [
      proven('the service has the money, and nothing has credited the order yet'),
      possible('your server refused or never got the notification (secret, path, parser)', doctor),
      possible('`credit` changes no row: the log of your server says not_credited', testOrders),
      possible('a refund reset the paid column. Then do not credit this order again'),
    ],
    advice: 'the next run of the schedule credits the order',
    next: reconcile,
  }),

  paid: ({ verified }, { verify, explain }) => {
    if (verified === 'confirmed' || verified === undefined) {
      return {
        turn: 'nobody',
        causes: [
          verified === undefined
            ? possible('the order is paid, but the service did not answer')
            : proven('the order is paid and credited, and the service confirms the payment'),
        ],
        advice: 'a refund keeps the paid column, so nothing credits the order again',
        next: verified === undefined ? explain : verify,
      };
    }
    return {
      turn: 'you',
      causes: [
        proven(`your database says paid, and the service ${UNCONFIRMED[verified]!}`),
        possible('somebody marked the order paid by hand, or it was paid in another way'),
        possible('the order changed after its credit'),
        possible('a statement other than `credit` writes the paid column'),
      ],
      advice: 'compare the order with your bookkeeping by hand',
      next: verify,
    };
  },

  pending: (_facts, { explain }) => ({
    turn: 'the customer',
    causes: [proven('the customer has not paid yet')],
    advice: 'wait, or send the customer the link again',
    next: explain,
  }),

  no_payment: ({ knowsNoOrder }, { createLink, readPayment, explain }) => {
    const address = 'the service knows none of your paid orders: `baseUrl` or `apiKey` is wrong';
    if (knowsNoOrder === true) {
      return {
        turn: 'you',
        causes: [proven(address)],
        advice: 'compare PAYLINK_BASE_URL and PAYLINK_API_KEY with the portal of the service',
        next: explain,
      };
    }
    return {
      turn: 'you',
      causes: [
        proven('the service has no payment of this reference'),
        possible('the link was never created: the customer left, or createPaymentLink failed'),
        ...(knowsNoOrder === undefined
          ? [possible('`baseUrl` or `apiKey` belongs to another account', readPayment)]
          : []),
      ],
      advice: 'create the link if the customer still wants to pay',
      next: createLink,
    };
  },

  failed: (_facts, { explain }) => ({
    turn: 'the customer',
    causes: [proven('the payment failed, so the customer has not paid')],
    advice: 'offer the customer a new order',
    next: explain,
  }),

  cancelled: (_facts, { explain }) => ({
    turn: 'the customer',
    causes: [proven('the customer cancelled the payment')],
    advice: 'offer the customer a new order',
    next: explain,
  }),

  unknown_order: ({ reason, tenant }, { explainOther, readPayment }) => ({
    turn: 'you',
    causes: [
      proven(reason),
      possible(
        tenant === null
          ? 'the order belongs to a merchant that only --tenant names'
          : `the order belongs to another merchant than ${tenant}`,
        explainOther,
      ),
      possible('this command reads another database than your server: compare its settings'),
      possible('the order was deleted, or its reference has another spelling'),
    ],
    advice: 'find the order in the database of your server',
    next: readPayment,
  }),

  order_closed: (_facts, { reconcile }) => ({
    turn: 'you',
    causes: [proven('the customer paid after the order was closed')],
    advice: 'refund the customer by hand, or reopen the order and then credit it',
    next: reconcile,
  }),

  amount_differs: ({ reason, timesListed }, { reconcile, testOrders }) => ({
    turn: 'you',
    causes: [
      proven(reason),
      possible('the order changed after its link was created'),
      ...(timesListed === undefined
        ? [possible('two orders have this reference, and the other one was paid', testOrders)]
        : []),
    ],
    advice: 'refund the customer by hand, or correct the order and then credit it',
    next: reconcile,
  }),

  not_credited: ({ reason }, { testOrders }) => ({
    turn: 'you',
    causes: [proven(reason)],
    advice: 'repair `credit`',
    next: testOrders,
  }),

  invalid_order: ({ reason }, { testOrders }) => ({
    turn: 'you',
    causes: [proven(reason)],
    advice: 'repair `find`',
    next: testOrders,
  }),

  orders_unavailable: ({ reason, faults }, { explain }) => ({
    turn: 'you',
    causes: [
      proven(reason),
      faults.some(({ code }) => UNREACHABLE.test(code))
        ? proven('nothing answers at the address of your database')
        : possible('the query of `find` is wrong, or the database refuses it'),
    ],
    advice: 'repair `find`, or start the database',
    next: explain,
  }),

  confirm_unavailable: ({ reason, faults, pause }, { readPayment }) => {
    const status = faults.find((fault) => fault.status !== undefined)?.status ?? 0;
    const isUnreached = faults.some(({ code }) => UNREACHABLE.test(code));
    const setting = faults.find(({ code }) => code === 'misconfigured');
    if (setting !== undefined) {
      const cause = proven(`a setting of the client is wrong: ${setting.message}`);
      return { turn: 'you', causes: [cause], advice: 'correct the setting', next: readPayment };
    }
    const { turn, cause, advice } =
      pause !== undefined ? PAUSED : isUnreached ? UNREACHED : (BY_STATUS[status] ?? UNUSABLE);
    return { turn, causes: [proven(reason), cause], advice, next: readPayment };
  },

  handler_timeout: ({ reason }, { explain }) => ({
    turn: 'you',
    causes: [
      proven(reason),
      possible('another transaction locks the row of this order'),
      possible('the pool of your database has no free connection'),
    ],
    advice: 'end the transaction that holds the row',
    next: explain,
  }),
};

const UNCONFIRMED: Readonly<Record<string, string>> = {
  notPaid: 'does not',
  differs: 'has another amount or currency',
  noPayment: 'has no payment of this reference',
};

const UNREACHABLE = /^(ECONN|ENOTFOUND|EAI_|ETIMEDOUT|EHOSTUNREACH|network_error|timeout$)/;

interface KnownFault {
  readonly turn: Advice['turn'];
  readonly cause: Cause;
  readonly advice: string;
}

const UNREACHED: KnownFault = {
  turn: 'you',
  cause: possible('`baseUrl` names the wrong host, or the service is down'),
  advice: 'compare PAYLINK_BASE_URL with the portal of the service, and try again',
};

const KEY: KnownFault = {
  turn: 'you',
  cause: proven('the service refuses your API key'),
  advice: 'compare PAYLINK_API_KEY with the portal of the service',
};

const PAUSED: KnownFault = {
  turn: 'the service',
  cause: proven('the service asks Paylink to wait'),
  advice: 'wait: the next run of the schedule asks again',
};

const UNUSABLE: KnownFault = {
  turn: 'the service',
  cause: possible('the service gave no usable answer'),
  advice: 'try again later, and show the answer to the support of the service',
};

const BY_STATUS: Readonly<Record<number, KnownFault>> = { 401: KEY, 403: KEY, 429: PAUSED };
