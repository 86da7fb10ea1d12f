import type { IncomingMessage } from 'node:http';
import { createGate as createCoreGate } from '@paylink/core';
import type { EventSchemas, GateOptions, Reply } from '@paylink/core';
import { deliveryOf } from './delivery.js';

/** Resolves with the reply to write, or with undefined to let the request pass. */
type NodeGate<Host> = (req: IncomingMessage, host: Host) => Promise<Reply | undefined>;

/**
 * Makes a gate for node:http requests. `webhookEvent(req)` then returns the proven event.
 *
 * @param hint for the log: the fix if other code read the body first
 * @throws ConfigurationError that names the option and the fault
 */
export function createGate<Events extends EventSchemas, Host extends object>(
  options: GateOptions<Events, Host>,
  hint: string,
): NodeGate<Host> {
  const gate = createCoreGate(options);
  return (req, host) => gate.admit(deliveryOf(req, hint), host, req);
}
