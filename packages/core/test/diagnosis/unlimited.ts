import type { Budget } from '../../src/diagnosis/budget.js';

/** A budget that suffices for all, but for what is given. */
export function unlimited(bounds: Partial<Budget> = {}): Budget {
  return {
    body: Infinity,
    text: Infinity,
    parsed: Infinity,
    take: () => Promise.resolve(true),
    ...bounds,
  };
}

/** A budget for so many looks at it. */
export function sufficingFor(looks: number, bounds: Partial<Budget> = {}): Budget {
  let left = looks;
  return unlimited({ ...bounds, take: () => Promise.resolve(left-- > 0) });
}

/** What a generator gives, and what it ends with. */
export async function all<Given, Kept, Result>(
  generator: AsyncGenerator<Given, Result>,
  keep: (given: Given) => Kept,
): Promise<{ readonly given: Kept[]; readonly result: Result }> {
  const given: Kept[] = [];
  for (let next = await generator.next(); ; next = await generator.next()) {
    if (next.done === true) return { given, result: next.value };
    given.push(keep(next.value));
  }
}
