/** Section A: verification in a loop, in this process. */
import { jsonBody, REFERENCE } from './delivery.js';
import { EVENTS, SIGNATURES, type Library } from './libraries.js';
import type { Row, Section } from './report.js';
import { runRounds } from './rounds.js';
import { createSlice } from './slice.js';
import { median, medianRatio } from './statistics.js';

export interface LoopPlan {
  readonly sliceMs: number;
  readonly rounds: number;
}

export const SIZES = { '200 B': 200, '1 kB': 1_000, '10 kB': 10_000, '100 kB': 100_000 };

const WARM_UP_ROUNDS = 3;

export async function measureSignatures(plan: LoopPlan): Promise<Section> {
  return {
    title: 'HMAC and comparison, in a loop',
    notes: ['µs: median of a call. ratio: to by hand, median over the rounds.'],
    rows: await measureSizes(SIGNATURES, plan),
  };
}

export async function measureEvents(plan: LoopPlan): Promise<Section> {
  return {
    title: 'Verification, JSON and event, in a loop',
    notes: [
      'The same bytes for all, each signed in the own scheme of its library. µs and ratio ' +
        'as above.',
      'paylink is createVerifier(…).verify(body, headers), awaited; by hand is the above ' +
        'and JSON.parse(body.toString()).',
    ],
    rows: await measureSizes(EVENTS, plan),
  };
}

async function measureSizes(
  libraries: Readonly<Record<string, Library>>,
  plan: LoopPlan,
): Promise<Row[]> {
  const [byHand, ...others] = Object.keys(libraries);
  const rows: Row[] = [];
  for (const [load, bytes] of Object.entries(SIZES)) {
    const body = jsonBody(bytes);
    // Each alone with by hand: the garbage of a third would be collected in their slices.
    for (const [index, other] of others.entries()) {
      const pair = [byHand!, other];
      const slices = [];
      for (const name of pair) {
        const call = libraries[name]!(body);
        requireResult(name, await call());
        slices.push(await createSlice(call, plan.sliceMs));
      }
      await runRounds(slices, WARM_UP_ROUNDS);
      const samples = await runRounds(slices, plan.rounds);
      const measured = pair.map((contestant, turn) => ({
        load,
        contestant,
        figures: { µs: median(samples[turn]!), ratio: medianRatio(samples[turn]!, samples[0]!) },
      }));
      rows.push(...measured.slice(index === 0 ? 0 : 1));
    }
  }
  return rows;
}

/** Excludes contestants that do not verify, or that parse something else. */
function requireResult(name: string, result: unknown): void {
  if (result === true || (result as { reference?: unknown } | null)?.reference === REFERENCE)
    return;
  throw new Error(`${name} gave no payload`);
}
