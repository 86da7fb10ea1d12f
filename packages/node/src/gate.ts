import type { IncomingMessage } from 'node:http';
import { createReceiver, keepEvent } from '@paylink/core';
import type { EventSchemas, GateOptions, Reply } from '@paylink/core';
import { deliveryOf } from './delivery.js';

/** Verifies. Resolves with the reply to write, or undefined if the request may go on. */
export type NodeGate<Host> = (req: IncomingMessage, host: Host) => Promise<Reply | undefined>;

/**
 * Makes a gate for the requests of node:http. `webhookEvent(req)` returns the event that it proved.
 *
 * @param hint for the log: how to fix a route whose body something else has read
 * @throws ConfigurationError that names the option and the fault.
 */
export function createGate<Events extends EventSchemas, Host extends object>(
  options: GateOptions<Events, Host>,
  hint: string,
): NodeGate<Host> {
  const gate = createReceiver(options);
  return async (req, host) => {
    const { event, reply } = await gate.admit(deliveryOf(req, hint), host);
    if (event !== undefined) keepEvent(req, event);
    return reply;
  };
}
