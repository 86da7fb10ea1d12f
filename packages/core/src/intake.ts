/** From a request to a proven event: headers, body, signature, event; and what is told of a failure on the way. */
import type { ConfirmedPayment } from './confirm.js';
import type { BodyLimits, Delivery } from './delivery.js';
import { isPromise } from './deadline.js';
import { isProduction } from './environment.js';
import { check, ConfigurationError, fault, isWebhookError, type WebhookError } from './errors.js';
import type { WebhookEvent } from './event.js';
import { report, type Facts } from './observe.js';
import { readBound, type GateOptions, type ReceiverOptions } from './options.js';
import type { NoEvents } from './schema.js';
import { statusOf } from './reply.js';
import { requireBytes, requireSignature } from './signature.js';
import { createProver } from './verifier.js';

// Inside the receiver an event is any event: the types of a merchant's own kinds matter to the merchant's handlers only.
export type AnyReceiverOptions = ReceiverOptions<NoEvents, ConfirmedPayment, object, unknown>;
export type AnyGateOptions = GateOptions<NoEvents, unknown, 'pass' | undefined>;

export interface Intake {
  readonly kinds: ReadonlyMap<string, unknown>;
  /** Takes a delivery as far as its event. @throws WebhookError, at once for what the headers alone tell. */
  read(delivery: Delivery, host: unknown, facts: Facts): Promise<WebhookEvent>;
  /** Reports a failure, and logs it where the merchant may have something to mend. */
  tell(error: unknown, facts: Facts, byHandler: boolean): void;
}

export function createIntake(options: AnyReceiverOptions | AnyGateOptions): Intake {
  const { bodyLimit = 65_536, bodyTimeout = 10_000, observe, logger = console } = options;
  const limits: BodyLimits = { bodyLimit: readBound('bodyLimit', bodyLimit), bodyTimeout: readBound('bodyTimeout', bodyTimeout) };
  check(observe === undefined || typeof observe === 'function', 'observe', 'must be a function');
  const prover = createProver(options);
  const { headers, kinds } = prover;
  const told = new Set<string>();

  return {
    kinds,
    read(delivery, host, facts) {
      // Whatever can be refused by its headers is refused before one byte of the body is read.
      if ((delivery.method ?? 'POST') !== 'POST') throw fault('method_not_allowed', 'a notification is a POST');
      const declared = delivery.header('content-length') ?? 0;
      if (!(Number(declared) <= bodyLimit)) throw tooLarge(bodyLimit);
      const signature = requireSignature(delivery.header(headers.signature));
      if (!/^(\s*|identity)$/i.test(delivery.header('content-encoding') ?? '')) {
        throw fault('unsupported_encoding', 'the body has a content encoding, so its bytes are not those that were signed');
      }

      // An adapter in plain JavaScript may give the bytes themselves.
      return Promise.resolve(delivery.body(limits)).then((body) => {
        const rawBody = requireBytes(body);
        facts.bodyBytes = rawBody.length;
        if (rawBody.length > bodyLimit) throw tooLarge(bodyLimit);

        const overruled = (code: string): void => void (facts.code = code);
        const proven = prover.prove(rawBody, signature, delivery.header(headers.event), host, options.confirm && overruled);
        return isPromise(proven) ? proven.then((event) => note(event, facts)) : note(proven, facts);
      });
    },
    tell(error, facts, byHandler) {
      const { code, status } = isWebhookError(error) ? error : { code: 'handler_failed', status: 500 };
      facts.code = code;
      report(observe, facts, status > 499 || byHandler ? 'failed' : 'rejected');
      // A handler's own code is the merchant's business: it was thrown on purpose.
      if (!isWebhookError(error) || statusOf(code) === undefined) return;
      const line = `[paylink] ${status} ${code}: ${error.message}${causeOf(error)}`;
      if (status > 499) logger.error(line);
      else if (!byHandler && !isProduction() && !told.has(line)) {
        // A stranger can be refused without end: in production that is silent, elsewhere each cause is told once.
        told.add(line);
        logger.warn(line);
      }
    },
  };
}

function note(event: WebhookEvent, facts: Facts): WebhookEvent {
  facts.type = event.type;
  facts.reference = event.reference;
  facts.secretIndex = event.secretIndex;
  return event;
}

function tooLarge(bodyLimit: number): WebhookError {
  return fault('body_too_large', `the body is larger than bodyLimit (${bodyLimit} bytes)`);
}

function causeOf({ code, cause }: WebhookError): string {
  if (!(cause instanceof Error)) return '';
  // What a secret's function throws can quote the secret; our own words never do.
  const quiet = code === 'secret_unavailable' && !(cause instanceof ConfigurationError);
  return quiet ? ` (${cause.name})` : ` (${cause.name}: ${cause.message})`;
}
