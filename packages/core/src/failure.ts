/** What is no success, though nothing was thrown. */
import { isWebhookError } from './errors.js';

/**
 * Why what a handler returned is no success, as the error to throw; undefined where it is one. An Error counts as thrown: `return` in
 * place of `throw`. A Response that is not 2xx is the answer of a service that did not do what it was asked for.
 */
export function failureOf(returned: unknown): Error | undefined {
  if (isError(returned)) return returned;
  if (!isTagged(returned, 'Response')) return undefined;
  const { ok, status } = returned as Partial<Response>;
  if (ok !== false) return undefined;
  return new Error(`the handler returned a Response of status ${status}. Where that is no failure, return nothing`);
}

export function isError(value: unknown): value is Error {
  // By the tag too: `instanceof` fails for an error of another realm.
  return value instanceof Error || isWebhookError(value) || isTagged(value, 'Error');
}

function isTagged(value: unknown, tag: string): boolean {
  return Object.prototype.toString.call(value) === `[object ${tag}]`;
}
