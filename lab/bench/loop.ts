/** Section A: verification in a loop, in this process. */
import { jsonBody, REFERENCE } from './delivery.js';
import { eventByHand, signatureByHand } from './libraries/by-hand.js';
import type { Library } from './libraries/library.js';
import { octokit } from './libraries/octokit.js';
import { paylinkEvent, paylinkSignature } from './libraries/paylink.js';
import { standardWebhooks } from './libraries/standard-webhooks.js';
import { stripe } from './libraries/stripe.js';
import { svix } from './libraries/svix.js';
import { tern } from './libraries/tern.js';
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
    rows: await measureSizes(signatureByHand, [paylinkSignature], plan),
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
    rows: await measureSizes(
      eventByHand,
      [paylinkEvent, octokit, stripe, standardWebhooks, svix, tern],
      plan,
    ),
  };
}

async function measureSizes(
  byHand: Library,
  others: readonly Library[],
  plan: LoopPlan,
): Promise<Row[]> {
  const rows: Row[] = [];
  for (const [load, bytes] of Object.entries(SIZES)) {
    const pairs: Row[][] = [];
    for (const other of others)
      pairs.push(await measurePair(byHand, other, load, jsonBody(bytes), plan));
    rows.push(pairs[0]![0]!, ...pairs.map(([, row]) => row!));
  }
  return rows;
}

/** Each alone with by hand: the garbage of a third would be collected in their slices. */
async function measurePair(
  byHand: Library,
  other: Library,
  load: string,
  body: Buffer,
  plan: LoopPlan,
): Promise<Row[]> {
  const libraries = [byHand, other];
  const slices = [];
  for (const library of libraries) {
    const call = library.prepare(body);
    requireResult(library, await call());
    slices.push(await createSlice(call, plan.sliceMs));
  }
  await runRounds(slices, WARM_UP_ROUNDS);
  const samples = await runRounds(slices, plan.rounds);
  return libraries.map(({ name }, index) => ({
    load,
    contestant: name,
    figures: { µs: median(samples[index]!), ratio: medianRatio(samples[index]!, samples[0]!) },
  }));
}

/** Excludes contestants that do not verify, or that parse something else. */
function requireResult({ name }: Library, result: unknown): void {
  if (result === true || (result as { reference?: unknown } | null)?.reference === REFERENCE)
    return;
  throw new Error(`${name} gave no payload`);
}
