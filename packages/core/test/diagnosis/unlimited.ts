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
