/** The options that identify a webhook, and the check of its host. */
import { Option } from 'commander';
import { collect, collectHeader, parseUrl } from '../terminal/input.js';
import type { Output } from '../terminal/output.js';
import { usageFailure } from '../terminal/failure.js';
import { isLocalHost } from './local-host.js';

/** The event kind in the contract. */
export const PAYMENT_SUCCEEDED = 'payment.succeeded';

export interface TargetFlags {
  readonly to: URL;
  readonly header?: Readonly<Record<string, string>>;
  readonly allowHost?: readonly string[];
}

export const TO_OPTION = new Option('--to <url>', 'the address of the webhook')
  .argParser(parseUrl)
  .makeOptionMandatory();

export const HEADER_OPTION = new Option(
  '--header <header>',
  'add a header, "Name: value", for a tunnel or a gateway (can be repeated)',
).argParser(collectHeader);

export const ALLOW_HOST_OPTION = new Option(
  '--allow-host <host>',
  'allow this remote host (can be repeated)',
).argParser(collect);

/** @throws Failure unless the host is this machine or --allow-host names it */
export function requireAllowedHost({ to, allowHost = [] }: TargetFlags, condition: string): void {
  const { hostname, host } = to;
  if (isLocalHost(hostname) || allowHost.includes(hostname) || allowHost.includes(host)) return;
  throw usageFailure(
    `${hostname} is not this machine, and this command sends notifications with a genuine ` +
      'signature',
    `${condition}, add --allow-host ${hostname}`,
  );
}

/**
 * Hides the query and the header values from all output, whole and split as a server may echo them.
 */
export function hideRequest({ to, header = {} }: TargetFlags, output: Output): void {
  const query = to.search.slice(1);
  const encoded = query.split('&').map((pair) => pair.slice(pair.indexOf('=') + 1));
  const values = Object.values(header);
  // From `Authorization: Bearer T`, a server may echo T alone.
  const afterScheme = values.map((value) => value.replace(/^\S+\s+/, ''));
  output.hide(query, ...encoded, ...to.searchParams.values(), ...values, ...afterScheme);
}
