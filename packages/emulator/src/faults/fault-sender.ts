import { ConfigurationError } from '@paylink/core';
import { validateBound, validateOptions } from '@paylink/core/internal';
import type { FaultOutcome } from '../deliveries/delivery.js';
import { FAULT_NAMES, isFault, type Fault } from './faults.js';
import { makeFaultyDelivery, type FaultOptions, type Genuine } from './faulty-notifications.js';
import { LONGEST_TIMER } from '../longest-timer.js';
import type { Ledger } from '../payments/ledger.js';
import type { Settings } from '../options.js';
import type { Outbox } from '../deliveries/outbox.js';
import type { Link, PaymentStatus } from '../payments/payment.js';

export interface FaultSenderOptions {
  readonly ledger: Ledger;
  readonly outbox: Outbox;
  readonly settings: Settings;
}

// For a run of all faults: short enough to wait for, and long enough to overtake an answer.
const QUICK: FaultOptions = { delay: 1_000, interval: 100 };

const LARGEST: Readonly<Record<keyof FaultOptions, number>> = {
  times: 1_000,
  delay: LONGEST_TIMER,
  interval: 600_000,
};

/** Sends faulty notifications of a payment. */
export class FaultSender {
  readonly #options: FaultSenderOptions;

  constructor(options: FaultSenderOptions) {
    this.#options = options;
  }

  /** @throws ConfigurationError for an unknown fault or option, EmulatorError `emulator_closed` */
  send(
    link: Link,
    fault: Fault,
    options: FaultOptions = {},
  ): { readonly id: string; readonly outcome: Promise<FaultOutcome> } {
    if (!isFault(fault))
      throw new ConfigurationError('fault', `must be one of ${FAULT_NAMES.join(', ')}`);
    const own = validateFaultOptions(options);
    return this.#options.outbox.sendFault(link, fault, () =>
      makeFaultyDelivery(fault, this.#genuine(link), own),
    );
  }

  /** Sends every fault in turn. Stops early if the emulator forgets the payment. */
  async sendAll(link: Link): Promise<FaultOutcome[]> {
    const outcomes: FaultOutcome[] = [];
    for (const fault of FAULT_NAMES) {
      if (this.#options.ledger.find(link.token) !== link) break;
      outcomes.push(await this.send(link, fault, QUICK).outcome);
    }
    return outcomes;
  }

  #genuine(link: Link): Genuine {
    const { webhookSecret: secret, assumed } = this.#options.settings;
    return {
      body: this.#bodyFor(link, 'success'),
      presentBody: this.#bodyFor(link, link.status),
      contentType: assumed.notificationContentType,
      otherEvent: assumed.otherEvent,
      secret,
    };
  }

  #bodyFor(link: Link, status: PaymentStatus): string {
    const { ledger, settings } = this.#options;
    const payment = { ...ledger.paymentOf(link), status, token: link.token };
    return JSON.stringify(settings.assumed.notificationBody(payment));
  }
}

function validateFaultOptions(options: FaultOptions): FaultOptions {
  const names = Object.keys(LARGEST) as (keyof FaultOptions)[];
  const own = validateOptions(options, names, 'options of a fault');
  for (const name of names)
    if (own[name] !== undefined) validateBound(name, own[name], 1, LARGEST[name]);
  return own;
}
