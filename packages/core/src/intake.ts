/** From a request to a proven event: headers, body, signature, event. */
import type { ConfirmedPayment } from './confirm.js';
import type { BodyLimits, Delivery } from './delivery.js';
import { isPromise } from './deadline.js';
import { fault, WebhookError } from './errors.js';
import type { WebhookEvent } from './event.js';
import { createExplainer } from './explainer.js';
import type { Logger } from './logger.js';
import { noteEvent, type Facts } from './reporting.js';
import { readBound } from './option-checks.js';
import type { GateOptions, ReceiverOptions } from './options.js';
import { createProver } from './prover.js';
import type { NoEvents } from './schema.js';
import { requireBytes, requireSignature } from './signature.js';

// Inside the receiver an event is any event: only the merchant's handlers need the types of their kinds.
export type AnyReceiverOptions = ReceiverOptions<NoEvents, ConfirmedPayment, object, unknown>;
export type AnyGateOptions = GateOptions<NoEvents, unknown, 'pass' | undefined>;

export interface Intake {
  readonly kinds: ReadonlyMap<string, unknown>;
  /** Takes a delivery as far as its event. @throws WebhookError, before the body is read where the headers suffice. */
  read(delivery: Delivery, host: unknown, facts: Facts): Promise<WebhookEvent>;
}

export function createIntake(options: AnyReceiverOptions | AnyGateOptions, logger: Logger): Intake {
  const { bodyLimit = 65_536, bodyTimeout = 10_000 } = options;
  const limits: BodyLimits = { bodyLimit: readBound('bodyLimit', bodyLimit), bodyTimeout: readBound('bodyTimeout', bodyTimeout) };
  const { secret, explain } = createExplainer(options.secret, logger);
  const prover = createProver({ ...options, secret }, logger, options.confirm === undefined ? 'refuse' : 'note');
  const { headers, kinds } = prover;

  const readSignature = (delivery: Delivery, host: unknown): string => {
    const sent = delivery.header(headers.signature);
    try {
      return requireSignature(sent);
    } catch (error) {
      explain?.(undefined, sent, host);
      throw error;
    }
  };

  return {
    kinds,
    read(delivery, host, facts) {
      // What the headers show to be wrong is refused before one byte of the body is read.
      if ((delivery.method ?? 'POST') !== 'POST') throw fault('method_not_allowed', 'a notification is a POST');
      const declared = delivery.header('content-length') ?? 0;
      if (!(Number(declared) <= bodyLimit)) throw new WebhookError('body_too_large');
      const signature = readSignature(delivery, host);
      if (!/^(\s*|identity)$/i.test(delivery.header('content-encoding') ?? '')) {
        throw fault('unsupported_encoding', 'the body has a content encoding, so its bytes are not those that were signed');
      }

      // An adapter in plain JavaScript may give the bytes themselves.
      return Promise.resolve(delivery.body(limits)).then((body) => {
        const rawBody = requireBytes(body);
        facts.bodyBytes = rawBody.length;
        if (rawBody.length > bodyLimit) throw new WebhookError('body_too_large');

        const refuse = (error: unknown): never => {
          if ((error as Partial<WebhookError>).code === 'invalid_signature') explain?.(rawBody, signature, host);
          throw error;
        };
        try {
          const proven = prover.prove(rawBody, signature, delivery.header(headers.event), host);
          return isPromise(proven) ? proven.then((read) => noteEvent(read, facts), refuse) : noteEvent(proven, facts);
        } catch (error) {
          return refuse(error);
        }
      });
    },
  };
}
