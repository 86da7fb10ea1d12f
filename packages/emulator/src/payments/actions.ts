import { check, validateOptions } from '@paylink/core/internal';
import { EmulatorError } from '../base/emulator-error.js';
import { quote } from '../base/visible-text.js';
import type { DeliverySwitches } from '../contract/assumed.js';
import { validateDelivery } from '../contract/validate-assumed.js';
import { amountBoundsOf } from '../contract/payment.js';
import type { CreatedLink, Link, Payment, PaymentLinkFields } from '../contract/payment.js';
import type { Ledger } from './ledger.js';
import { parseLinkRequest } from './link-request.js';

/** The customer's amount, and the delivery of its notification. */
export interface PayChoice {
  /** The amount for a free-amount link. Default: its lower bound. */
  readonly amount?: number | undefined;
  /** Default: `assumed.delivery`. */
  readonly delivery?: DeliverySwitches | undefined;
}

/** The actions of merchants and customers, by reference and with coded errors. */
export class Actions {
  readonly #ledger: Ledger;

  constructor(ledger: Ledger) {
    this.#ledger = ledger;
  }

  /** @throws EmulatorError with an API code */
  createLink(fields: PaymentLinkFields): CreatedLink {
    const { body: created } = this.#ledger.create(parseLinkRequest(fields), undefined);
    return JSON.parse(created) as CreatedLink;
  }

  /** @throws EmulatorError `payment_not_found`, `transition_not_allowed` or `invalid_amount` */
  pay(reference: string, choice: PayChoice): Payment {
    const { amount, delivery } = validateOptions(choice, ['amount', 'delivery'], 'choice');
    const how = { delivery: delivery === undefined ? undefined : validateDelivery(delivery) };
    const link = this.#find(reference);
    if (this.#ledger.pay(link.token, amountFor(link, amount), how) !== 'paid')
      throw notAllowed(`the payment cannot be paid: it is ${link.status}`);
    return this.#ledger.paymentOf(link);
  }

  /** @throws EmulatorError `payment_not_found` or `transition_not_allowed` */
  settle(reference: string, status: 'failed' | 'cancelled'): Payment {
    const link = this.#find(reference);
    if (!this.#ledger.settle(link.token, status))
      throw notAllowed(`the payment cannot become ${status}: it is ${link.status}`);
    return this.#ledger.paymentOf(link);
  }

  #find(reference: string): Link {
    check(typeof reference === 'string', 'reference', 'must be a string');
    const link = this.#ledger.findByReference(reference);
    if (link !== undefined) return link;
    const message = `the reference ${quote(reference)} has no payment: create its link first`;
    throw new EmulatorError('payment_not_found', message);
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
