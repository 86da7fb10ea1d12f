/** Compares the client's types with those of docs/public/openapi.yaml. `pnpm types` checks it. */
import type { Payment, PaymentLink, PaymentLinkRequest } from '@paylink/client';
import type * as Contract from './openapi-types.js';

type Equal<A, B> =
  (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const same = <A, B>(equal: Equal<A, B>): boolean => equal;
type Names<T> = T extends T ? keyof T : never;

same<Names<PaymentLinkRequest>, Names<Contract.PaymentLinkRequest>>(true);
same<keyof PaymentLink, keyof Contract.PaymentLink>(true);
same<Exclude<Names<Payment>, 'sentStatus'>, keyof Contract.Payment>(true);
// A status outside of the four reads as unknown.
same<Exclude<Payment['status'], 'unknown'>, Contract.Status>(true);
same<Payment['amount'], Contract.Payment['amount']>(true);
same<PaymentLink['amount'], Contract.PaymentLink['amount']>(true);

declare const link: PaymentLink;
export const asLink: Contract.PaymentLink = link;
declare const payment: Extract<Payment, { readonly status: 'success' }>;
export const asPayment: Contract.Payment = payment;
declare const fixed: Extract<PaymentLinkRequest, { readonly amount: number }>;
export const asRequest: Contract.PaymentLinkRequest = {
  reference: fixed.reference,
  amount: fixed.amount,
};
