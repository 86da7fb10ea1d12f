import { check } from '@paylink/core/internal';
import { EmulatorError, refuse } from '../base/emulator-error.js';
import { quote } from '../base/visible-text.js';
import type { DeliverySwitches } from '../contract/assumed.js';
import { amountBoundsOf } from '../contract/payment.js';
import type { CreatedLink, Link, Payment, PaymentLinkFields } from '../contract/payment.js';
import type { Ledger } from './ledger.js';
import { parseLinkRequest } from './link-request.js';

/** What the customer pays, and how its notification travels. */
export interface PayChoice {
  /** The amount of a free-amount link. Default: its lower bound. */
  readonly amount?: number | undefined;
  /** Default: `assumed.delivery`. */
  readonly delivery?: DeliverySwitches | undefined;
}

/** The actions of merchants and customers, by reference and with coded errors. */
export interface Actions {
  /** @throws EmulatorError with an API code */
  createLink(fields: PaymentLinkFields): CreatedLink;
  /** @throws EmulatorError `payment_not_found`, `transition_not_allowed` or `invalid_amount` */
  pay(reference: string, choice: PayChoice): Payment;
  /** @throws EmulatorError `payment_not_found` or `transition_not_allowed` */
  settle(reference: string, status: 'failed' | 'cancelled'): Payment;
}

export function createActions(ledger: Ledger): Actions {
  function find(reference: string): Link {
    check(typeof reference === 'string', 'reference', 'must be a string');
    const link = ledger.findByReference(reference);
    if (link !== undefined) return link;
    const message = `the reference ${quote(reference)} has no payment`;
    throw new EmulatorError('payment_not_found', message);
  }

  return {
    createLink(fields) {
      const body = new TextEncoder().encode(toJson(fields ?? null));
      const { body: created } = ledger.create(parseLinkRequest(body), undefined);
      return JSON.parse(created) as CreatedLink;
    },
    pay(reference, { amount, delivery }) {
      const link = find(reference);
      if (ledger.pay(link.token, amountFor(link, amount), { delivery }) !== 'paid')
        throw notAllowed(`the payment cannot be paid: it is ${link.status}`);
      return ledger.paymentOf(link);
    },
    settle(reference, status) {
      const link = find(reference);
      if (!ledger.settle(link.token, status))
        throw notAllowed(`the payment cannot become ${status}: it is ${link.status}`);
      return ledger.paymentOf(link);
    },
  };
}

/** @throws EmulatorError `invalid_request` for a value that no HTTP client could send */
function toJson(fields: unknown): string | undefined {
  try {
    return JSON.stringify(fields);
  } catch (error) {
    return refuse(`the link is not JSON: ${(error as Error).message}`);
  }
}

function notAllowed(message: string): EmulatorError {
  return new EmulatorError('transition_not_allowed', message);
}

function amountFor(link: Link, chosen: number | undefined): number {
  const { min, max } = amountBoundsOf(link);
  const amount = chosen ?? min;
  if (Number.isInteger(amount) && amount >= min && amount <= max) return amount;
  const allowed =
    'amount' in link ? `of this link is ${min}` : `must be a whole number from ${min} to ${max}`;
  throw new EmulatorError('invalid_amount', `the amount ${allowed}`);
}
