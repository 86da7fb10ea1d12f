import { expect, it } from 'vitest';
import { check } from './spin.js';

// `pnpm lab model` checks every design. The test "does not silence a webhook by the failed of a
// page" of payments takes this way with the real code.
it(
  'Spin finds the shortest way to a notification that a page silences',
  { tags: 'P25', timeout: 60_000 },
  () => {
    const { steps } = check({ faults: 1, design: 'OUTCOME_SHARED' });
    expect(steps.filter((step) => !step.includes('joins'))).toEqual([
      'page 0 starts',
      'customer fails',
      'page 0 asks failed',
      'customer pays',
      'webhook 0 starts',
      'webhook 0 ends isFailed',
    ]);
  },
);
