import { isError } from './thrown.js';

/**
 * Returns the error to throw for a value that a handler returned, or undefined if the value means
 * success. Failures are an Error, a Response that is not ok, and an object whose own `status` or
 * `statusCode` is a number of 400 or more. A generator, a function or an Observable fails too,
 * because its body never ran.
 */
export function failureOf(returned: unknown): Error | undefined {
  // A DOMException, or an error with its own tag, is an Error too.
  if (isError(returned) || returned instanceof Error) return returned;
  const kind = Object.prototype.toString.call(returned).slice(8, -1);
  if (typeof returned === 'function') return failure('a function, and Paylink does not call it');
  if (typeof returned !== 'object' || returned === null) return undefined;
  if (kind === 'Generator' || kind === 'AsyncGenerator') {
    return failure('a generator, and Paylink does not iterate: write an async function');
  }
  if (typeof (returned as { subscribe?: unknown }).subscribe === 'function') {
    return failure('an Observable, and Paylink does not subscribe: return firstValueFrom(…)');
  }
  if (kind === 'Response') {
    const { ok, status } = returned as { readonly ok?: unknown; readonly status?: number };
    return ok === false ? failure(`a Response of status ${status}`) : undefined;
  }
  for (const name of ['status', 'statusCode']) {
    if (!Object.hasOwn(returned, name)) continue;
    const status = (returned as Record<string, unknown>)[name];
    if (typeof status === 'number' && status >= 400) return failure(`{ ${name}: ${status} }`);
  }
  return undefined;
}

function failure(problem: string): Error {
  return new Error(`the handler returned ${problem}. Throw an error to fail, or return nothing`);
}
