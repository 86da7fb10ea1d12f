/** The goodput of the line of questions, on a virtual clock. */
// First, because the code under test keeps timers and clocks when it loads.
import { expect, it } from 'vitest';
import { VirtualTime } from '../simulation/virtual-time.js';
import { Random } from '../random.js';
import { atOneLimit, beside, overload } from './load.js';
import { openMemoryService } from './memory-service.js';

async function inVirtualTime<T>(scenario: () => Promise<T>): Promise<T> {
  const time = new VirtualTime(new Random(1));
  let running: Promise<T> | undefined;
  time.after(0, () => void (running = scenario()));
  await time.run(Infinity);
  return running!;
}

it.each([0.5, 1, 1.5, 2, 4])(
  'credits at %s times the capacity of the line, for as long as it lasts',
  { tags: 'Q01' },
  async (factor) => {
    const load = { concurrency: 8, latency: 100, factor, seconds: 75 };
    const { share, slowest } = await inVirtualTime(() => overload(openMemoryService(100), load));
    expect(share).toBeGreaterThan(Math.min(factor, 1) * 0.9);
    // Half of the 20 seconds of a run, and the answer.
    expect(slowest).toBeLessThan(10_500);
  },
);

it('serves webhooks and the schedule beside 600 pages that poll', { tags: 'Q02' }, async () => {
  const counts = { pages: 600, notifications: 30, scheduled: 40 };
  const { notified, reconciled } = await inVirtualTime(() =>
    beside(openMemoryService(20, 20), counts),
  );
  expect(Math.max(notified, reconciled)).toBeLessThan(120);
});

it.each([
  [1, 1.5],
  // Each process learns the limit by its own refusals.
  [10, 2.5],
])(
  '%s processes credit 600 notifications at 20 questions a second',
  { tags: 'P11' },
  async (processes, most) => {
    const { seconds, questionsEach } = await inVirtualTime(() =>
      atOneLimit(openMemoryService(20, 20), { processes, notifications: 600 }),
    );
    expect(seconds).toBeLessThan(120);
    expect(questionsEach).toBeLessThan(most);
  },
);
