/** Separates a host's findings into faults and explained exceptions. */
import type { Tried } from './attack.js';
import type { Host } from './host.js';

/** An exception that occurred in this run. */
export interface SeenException {
  readonly id: string;
  readonly what: string;
  readonly found: string;
  readonly why: string;
}

export interface Verdict {
  readonly tried: number;
  readonly faults: readonly string[];
  readonly exceptions: readonly SeenException[];
}

/** Reports findings without a matching exception, and exceptions that did not occur. */
export function verdictOf(
  { exceptions = [] }: Pick<Host, 'exceptions'>,
  tried: readonly Tried[],
): Verdict {
  const faults: string[] = [];
  const seen: SeenException[] = [];
  const unseen = new Set(exceptions);
  for (const { id, what, found } of tried) {
    if (found === undefined) continue;
    const exception = exceptions.find((each) => each.what.test(what));
    if (exception === undefined) faults.push(`${id} ${what}: ${found}`);
    else {
      unseen.delete(exception);
      seen.push({ id, what, found, why: exception.why });
    }
  }
  for (const { what } of unseen)
    faults.push(`the exception ${String(what)} was not seen: take it out of the list`);
  return { tried: tried.length, faults, exceptions: seen };
}
