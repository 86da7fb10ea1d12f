import { ConfigurationError } from '@paylink/core';
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
    checkOptions(options);
    return this.#options.outbox.sendFault(link, fault, () =>
      makeFaultyDelivery(fault, this.#genuine(link), options),
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

function checkOptions(options: FaultOptions): void {
  for (const [name, value] of Object.entries(options) as [keyof FaultOptions, unknown][]) {
    if (!Object.hasOwn(LARGEST, name)) {
      throw new ConfigurationError(
        name,
        `is an unknown option of a fault. Valid options: ${Object.keys(LARGEST).join(', ')}`,
      );
    }
    const isValid =
      Number.isInteger(value) && (value as number) >= 1 && (value as number) <= LARGEST[name];
    if (value !== undefined && !isValid)
      throw new ConfigurationError(name, `must be a whole number from 1 to ${LARGEST[name]}`);
  }
}
