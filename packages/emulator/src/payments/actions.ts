import type { Assumed } from '../assumed.js';
import { ServiceError } from '../api/service-error.js';
import { readLinkRequest } from '../api/link-request.js';
import { EmulatorError } from '../emulator-error.js';
import { quote } from '../visible-text.js';
import type { Ledger } from './ledger.js';
import type { CreatedLink, Link, Payment, PaymentLinkFields } from './payment.js';

/** The actions of merchants and customers, by reference and with coded errors. */
export interface Actions {
  /** @throws EmulatorError with an API code */
  createLink(fields: PaymentLinkFields): CreatedLink;
  /** @throws EmulatorError `payment_not_found`, `transition_not_allowed` or `invalid_amount` */
  pay(reference: string, amount?: number): Payment;
  /** @throws EmulatorError `payment_not_found` or `transition_not_allowed` */
  settle(reference: string, status: 'failed' | 'cancelled'): Payment;
  /** @throws EmulatorError `payment_not_found` */
  find(reference: string): Link;
}

export function createActions(ledger: Ledger, assumed: Assumed): Actions {
  function find(reference: string): Link {
    const link = ledger.findByReference(reference);
    if (link === undefined) {
      throw new EmulatorError(
        'payment_not_found',
        `the reference ${quote(reference)} has no payment`,
      );
    }
    return link;
  }

  return {
    find,
    createLink(fields) {
      try {
        const request = readLinkRequest(
          new TextEncoder().encode(JSON.stringify(fields ?? null)),
          assumed,
        );
        return JSON.parse(ledger.create(request, undefined).body) as CreatedLink;
      } catch (error) {
        if (!(error instanceof ServiceError)) throw error;
        throw new EmulatorError(error.code, error.message, { cause: error });
      }
    },
    pay(reference, chosen) {
      const link = find(reference);
      if (ledger.pay(link.token, amountFor(link, chosen)) !== 'paid') {
        throw new EmulatorError(
          'transition_not_allowed',
          `the payment cannot be paid: it is ${link.status}`,
        );
      }
      return ledger.paymentOf(link);
    },
    settle(reference, status) {
      const link = find(reference);
      if (!ledger.settle(link.token, status)) {
        throw new EmulatorError(
          'transition_not_allowed',
          `the payment cannot become ${status}: it is ${link.status}`,
        );
      }
      return ledger.paymentOf(link);
    },
  };
}

function amountFor({ price }: Link, chosen: number | undefined): number {
  if ('amount' in price) {
    if (chosen === undefined || chosen === price.amount) return price.amount;
    throw new EmulatorError('invalid_amount', `the amount of this link is ${price.amount}`);
  }
  const amount = chosen ?? price.amountMin;
  if (Number.isInteger(amount) && amount >= price.amountMin && amount <= price.amountMax)
    return amount;
  throw new EmulatorError(
    'invalid_amount',
    `the amount must be a whole number from ${price.amountMin} to ${price.amountMax}`,
  );
}
