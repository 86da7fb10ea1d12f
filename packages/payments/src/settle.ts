import { validateOptions, withinBounds, checkSignal } from '@paylink/core/internal';
import { ask, type PaymentStatus, type ServicePayment } from './ask.js';
import { creditNow, type Paid } from './credit.js';
import { identify, validateTenant } from './identity.js';
import { withLimit } from './limits.js';
import type { Payments } from './payments.js';
import { hasMark } from './run-once.js';
import { SUCCEEDED, type Settings } from './settings.js';
import { SharedAnswers } from './shared-answers.js';

export interface Settled {
  readonly status: PaymentStatus;
  /** True if this call credited the order. */
  readonly credited: boolean;
}

/** Makes `settle`, which reuses the service's answers for 2 s. */
export function createSettle<Tx, Payment extends ServicePayment>(
  settings: Settings<Tx, Payment>,
): Payments['settle'] {
  const answers = new SharedAnswers<Payment & { readonly status: PaymentStatus }>();
  const { store, clientOf, timeout: milliseconds } = settings;

  return async (reference, options = {}) => {
    const { tenant: owner, signal } = validateOptions(options, ['tenant', 'signal']);
    checkSignal(signal);
    const tenant = validateTenant(owner);
    const identity = await identify({ tenant, kind: SUCCEEDED, reference });
    const lookup = { milliseconds, signal, code: 'store_unavailable' } as const;
    if (await withLimit(lookup, () => hasMark(store, identity))) {
      return { status: 'success', credited: false };
    }
    // Leaves out this call's signal, because other calls wait for the answer too.
    const question = answers.get(identity.key, () =>
      withLimit({ milliseconds, signal: undefined, code: 'confirm_unavailable' }, (limit) =>
        ask(clientOf, reference, { signal: limit, tenant }),
      ),
    );
    const payment = await withinBounds(question, { signals: [signal] });
    if (payment.status !== 'success') return { status: payment.status, credited: false };
    // If another run is running, that run credits the order, or leaves it to the next delivery.
    const context = { source: 'settle', tenant, signal } as const;
    const credited = await creditNow(settings, payment as Paid<Payment>, identity, context);
    return { status: 'success', credited: credited === 'handled' };
  };
}
