import type { ServicePayment } from './ask.js';
import { creditOnce, type Credited, type Paid, type Source } from './credit.js';
import type { Identity } from './identity.js';
import { withLimit } from './limits.js';
import { logFailure, observed } from './observe.js';
import { SUCCEEDED, type Settings } from './settings.js';

export interface CreditNowContext {
  readonly source: Exclude<Source, 'webhook'>;
  readonly tenant: string | undefined;
  readonly signal: AbortSignal | undefined;
}

/** Credits outside of a receiver, which would limit the time, observe and log. */
export async function creditNow<Tx, Payment extends ServicePayment>(
  settings: Settings<Tx, Payment>,
  payment: Paid<Payment>,
  identity: Identity,
  { source, tenant, signal }: CreditNowContext,
): Promise<Credited> {
  const { timeout: milliseconds, observe, logger } = settings;
  const { reference } = payment;
  try {
    return await observed(observe, { source, kind: SUCCEEDED, reference, tenant }, () =>
      withLimit({ milliseconds, signal, code: 'handler_timeout' }, (limit) =>
        creditOnce(settings, payment, identity, { source, tenant, signal: limit }),
      ),
    );
  } catch (error) {
    if (signal?.aborted !== true) logFailure(logger, { source, reference }, error);
    throw error;
  }
}
