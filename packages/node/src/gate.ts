import type { IncomingMessage } from 'node:http';
import {
  ConfigurationError,
  createReceiver,
  type EventSchemas,
  type GateEvent,
  type GateOptions,
  type Reply,
  type WebhookEvent,
} from '@paylink/core';
import { deliveryOf } from './delivery.js';
import { notesOf } from './notes.js';
import { nextTurn } from './read-body.js';

/** A gate on Node's requests: what an adapter needs to put one in front of a merchant's handler. */
export interface NodeGate<Event, Host> {
  /** Verifies. Gives the reply to write, or nothing where the request may go on to the next handler. */
  readonly admit: (req: IncomingMessage, host: Host) => Promise<Reply | undefined>;
  /** The event that this gate proved for the request. @throws ConfigurationError when this gate is not in front of it. */
  readonly event: (req: IncomingMessage) => Event;
  /** Whether no code has read an event yet: then a 404 of the host means that nothing stands behind the gate. */
  readonly isUnused: () => boolean;
  readonly warnUnanswered: () => void;
}

interface Proven {
  readonly event: WebhookEvent;
  readonly use: () => void;
}

// Known to this file alone: nothing that a parser or a merchant's code writes on a request can pass for an event.
const LATEST = Symbol('event');

/**
 * @param bodyConsumedHint how to fix it when something read the body first; a sentence for the log
 * @throws ConfigurationError that names the option and the fault.
 */
export function createGate<Events extends EventSchemas, Host, Pass extends 'pass' | undefined>(
  options: GateOptions<Events, Host, Pass>,
  bodyConsumedHint: string,
): NodeGate<GateEvent<Events, Pass>, Host> {
  const receiver = createReceiver(options);
  const own = Symbol('event');
  let unused = true;
  const use = (): void => void (unused = false);
  return {
    admit: async (req, host) => {
      const { event, reply } = await receiver.admit(deliveryOf(req, bodyConsumedHint), host);
      if (reply !== undefined) return reply;
      // A body that was read at once has not ended for its listeners, and a parser behind the gate would wait for bytes that were read.
      await nextTurn();
      const notes = notesOf(req);
      notes[own] = event;
      notes[LATEST] = { event: event as WebhookEvent, use } satisfies Proven;
      return undefined;
    },
    event: (req) => {
      use();
      return (notesOf(req)[own] as GateEvent<Events, Pass> | undefined) ?? notProven();
    },
    isUnused: () => unused,
    warnUnanswered: () => {
      receiver.warnUnanswered();
    },
  };
}

/** The event that a gate proved for the request, where there is one. */
export function provenEvent(req: IncomingMessage): WebhookEvent | undefined {
  const proven = notesOf(req)[LATEST] as Proven | undefined;
  proven?.use();
  return proven?.event;
}

/** The event that a gate proved for the request. @throws ConfigurationError when no gate is in front: it fails closed. */
export function webhookEvent(req: IncomingMessage): WebhookEvent {
  return provenEvent(req) ?? notProven();
}

function notProven(): never {
  throw new ConfigurationError('webhookEvent', 'found no verified event: put paymentWebhook({ secret }) in front of this handler');
}
