/**
 * Throws for a value that a handler returned and that means failure: an Error, a Response that is
 * not ok, or an object whose own `status` or `statusCode` is a number of 400 or more. A generator,
 * a function or an Observable fails too, because its body never ran.
 */
export function requireSuccess(returned: unknown): void {
  if (typeof returned === 'function') throw failure('a function, and Paylink does not call it');
  if (typeof returned !== 'object' || returned === null) return;
  const kind = Object.prototype.toString.call(returned).slice(8, -1);
  // Another realm has its own class. A DOMException, or an error with its own tag, is an Error too.
  if (kind === 'Error' || returned instanceof Error) throw returned as Error;
  if (kind === 'Generator' || kind === 'AsyncGenerator') {
    throw failure('a generator, and Paylink does not iterate: write an async function');
  }
  if (typeof (returned as { subscribe?: unknown }).subscribe === 'function') {
    throw failure('an Observable, and Paylink does not subscribe: return firstValueFrom(…)');
  }
  if (kind === 'Response') {
    const { ok, status } = returned as { readonly ok?: unknown; readonly status?: number };
    if (ok === false) throw failure(`a Response of status ${status}`);
    return;
  }
  for (const name of ['status', 'statusCode']) {
    if (!Object.hasOwn(returned, name)) continue;
    const status = (returned as Record<string, unknown>)[name];
    if (typeof status === 'number' && status >= 400) throw failure(`{ ${name}: ${status} }`);
  }
}

function failure(problem: string): Error {
  return new Error(`the handler returned ${problem}. Throw an error to fail, or return nothing`);
}
