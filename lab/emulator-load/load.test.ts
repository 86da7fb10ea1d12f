import { afterEach, expect, it, vi } from 'vitest';
import { Random } from '../durability/random.js';
import { BadReceiver } from './bad-receiver.js';
import { EmulatorChild, type Stand } from './emulator-child.js';

const PAYMENTS = 5_000;
const SEED = 20_251_121;
const MEBIBYTE = 2 ** 20;

/**
 * The bytes that 4,000 more payments may leave behind. A collected heap varies by some MiB. Leaked
 * links would take 6 MiB, leaked deliveries 11.
 */
const ALLOWED = 5 * MEBIBYTE;

// Longer than any busy machine needs. Only a missing event runs into it.
const PATIENCE = 600_000;

let emulator: EmulatorChild;
let receiver: BadReceiver;
afterEach(async () => {
  await emulator.end();
  await receiver.die();
  expect(emulator.output).toBe('');
});

async function start(assumed: Record<string, number>): Promise<void> {
  receiver = new BadReceiver(new Random(SEED));
  await receiver.live();
  emulator = new EmulatorChild();
  await emulator.start({ url: receiver.url, secret: receiver.secret }, assumed);
}

function names(from: number, to: number): string[] {
  return Array.from({ length: to - from }, (_, index) => `order-${from + index}`);
}

/** Waits for a state of the emulator, not for a time. */
async function until(holds: (stand: Stand) => boolean): Promise<Stand> {
  let stand: Stand | undefined;
  await vi.waitUntil(async () => holds((stand = await emulator.stand())), {
    timeout: PATIENCE,
    interval: 200,
  });
  return stand!;
}

/** Waits for the connections too, because they hold memory. */
async function allAreDelivered(): Promise<void> {
  await until(({ owed, connections }) => owed === 0 && connections === 0);
}

it(
  'delivers each of 5,000 notifications to a receiver that fails 30 % of them and dies for a while, in bounded memory',
  async ({ annotate }) => {
    // Early timeouts and early retries fit hours of faults into seconds.
    await start({
      linksKept: 500,
      deliveriesKept: 500,
      deliveryTimeout: 1_000,
      firstRetryDelay: 40,
      longestRetryDelay: 1_500,
    });
    const started = performance.now();

    // Beyond the bounds of kept data, so that nothing should grow from here.
    await emulator.pay(names(0, 1_000));
    await allAreDelivered();
    const before = await emulator.measure();

    await emulator.pay(names(1_000, 2_000));
    await receiver.die();
    const missed = await emulator.stand();
    await emulator.pay(names(2_000, 3_000));
    // Each pending delivery was refused, some of them for a while.
    const during = await until(({ owed, fewest }) => owed >= 1_000 && fewest >= 3);
    await receiver.live();
    await emulator.pay(names(3_000, PAYMENTS));
    await allAreDelivered();
    const after = await emulator.measure();

    const { peak } = await emulator.stand();
    const { arrived, troubled, credited } = receiver;
    const grown = (after - before) / MEBIBYTE;
    const seconds = ((performance.now() - started) / 1_000).toFixed(0);
    await annotate(
      `${arrived} requests, ${troubled} in trouble, at most ${peak} at once; ${during.owed} owed while it was gone; ` +
        `${(before / MEBIBYTE).toFixed(1)} MiB held after 1,000, ${grown.toFixed(1)} more after 5,000; ${seconds} s`,
    );
    expect(missed.owed).toBeGreaterThan(0);
    expect(during.owed).toBeGreaterThanOrEqual(1_000);
    expect(troubled / arrived).toBeGreaterThan(0.25);
    expect(troubled / arrived).toBeLessThan(0.35);

    expect(await emulator.stand()).toMatchObject({ paid: PAYMENTS, owed: 0, kept: 500 });
    expect(names(0, PAYMENTS).filter((reference) => credited.get(reference) !== 1)).toEqual([]);
    expect(credited.size).toBe(PAYMENTS);
    expect(after - before).toBeLessThan(ALLOWED);
    // Equals `assumed.deliveriesAtOnce`.
    expect(peak).toBe(64);
  },
  PATIENCE,
);

it(
  'holds 500 notifications that no receiver takes, and the outcome of each attempt, in bounded memory, and delivers them in the end',
  async ({ annotate }) => {
    const owed = 500;
    await start({ linksKept: 100, firstRetryDelay: 1, longestRetryDelay: 1, attemptsKept: 10 });
    await receiver.die();
    receiver.recover();
    const before = await emulator.measure();
    await emulator.pay(names(0, owed));
    // Each delivery has made as many attempts as are kept.
    const { fewest } = await until(({ attempts }) => attempts === owed * 10);
    const full = await emulator.measure();
    const tried = receiver.arrived;
    await until((stand) => stand.fewest >= fewest + 3);
    const later = await emulator.measure();
    const each = (full - before) / owed;
    await annotate(
      `${(each / 1_024).toFixed(1)} KiB for each that is owed; ${((later - full) / MEBIBYTE).toFixed(1)} MiB more after three more attempts of each`,
    );
    expect(tried).toBe(0);
    expect(each).toBeLessThan(40 * 1_024);
    expect(later - full).toBeLessThan(ALLOWED);

    await receiver.live();
    await allAreDelivered();
    expect(receiver.credited.size).toBe(owed);
  },
  PATIENCE,
);
