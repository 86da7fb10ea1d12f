/**
 * `pnpm lab prove --long`: 1,000 planted faults among 10,000,000 orders in CSV files, and a payment
 * reader of this process. Fails unless exactly the planted ones are found.
 * `--orders N --faults N --ask all|undecided`.
 */
import { once } from 'node:events';
import { createWriteStream, type WriteStream } from 'node:fs';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { PaylinkError, type Payment } from '@paylink/client';
import { identify, type PaymentClient } from '@paylink/payments';
import { openInputs } from '../../src/prove/inputs.js';
import { prove } from '../../src/prove/prove.js';
import { StateFolder } from '../../src/prove/state.js';
import {
  csvCell,
  expectationOf,
  FAULTS,
  FAULTS_OF_THE_SERVICE,
  makeBooks,
  numberOf,
  type SyntheticBooks,
} from './synthetic-books.js';

const { values } = parseArgs({
  options: {
    orders: { type: 'string', default: '10000000' },
    faults: { type: 'string', default: '1000' },
  },
});
const count = Number(values.orders);
const books = makeBooks(count, Number(values.faults), [...FAULTS, ...FAULTS_OF_THE_SERVICE]);
const folder = await mkdtemp(join(tmpdir(), 'paylink-books-'));

try {
  process.exitCode = (await run()) ? 0 : 1;
} finally {
  await rm(folder, { recursive: true, force: true });
}

async function run(): Promise<boolean> {
  const started = performance.now();
  await writeBooks();
  const sizes = await Promise.all(
    ['orders', 'credits', 'marks'].map(async (name) => (await stat(pathOf(name))).size),
  );
  const megabytes = Math.round(sizes.reduce((sum, size) => sum + size, 0) / 1e6);
  say(
    `${count} orders with ${books.planted.size} faults written: ${megabytes} MB in ${secondsSince(started)} s`,
  );
  const before = memory();

  const state = await StateFolder.open(undefined);
  const proving = performance.now();
  let told = performance.now();
  const proof = await prove({
    source: openInputs({
      orders: { path: pathOf('orders') },
      credits: { path: pathOf('credits') },
      marks: { path: pathOf('marks') },
      tenant: undefined,
      database: undefined,
      folder: state.path,
    }),
    state,
    settings: {},
    ask: 'all',
    reader: readerOf(books),
    tenant: undefined,
    hasMarks: true,
    isPartial: false,
    currency: 'XOF',
    concurrency: 16,
    rate: undefined,
    readCredits: undefined,
    grace: 1,
    signal: new AbortController().signal,
    onProgress(step) {
      if (performance.now() - told < 10_000) return;
      told = performance.now();
      say(`${JSON.stringify(step)} ${memory()} MB`);
    },
  });
  const expected = expectationOf(books);
  const missing = new Map(
    [...expected.findings].map(([name, references]) => [name, new Set(references)]),
  );
  const digests = await digestsOfStrayMarks();
  let alarms = 0;
  for await (const { finding, reference, mark } of state.readFinal()) {
    const named = reference ?? digests.get(mark!) ?? '';
    if (missing.get(finding)?.delete(named) === true) continue;
    alarms++;
    say(`FALSE ALARM ${finding} ${named}`);
  }
  await state.close(false);
  const missed = [...missing.values()].reduce((sum, { size }) => sum + size, 0);
  for (const [name, references] of missing)
    for (const reference of references) say(`MISSED ${name} ${reference}`);
  const sameVerdicts = Object.entries(expected.verdicts).every(
    ([verdict, sum]) => (proof.verdicts[verdict] ?? 0) === sum,
  );
  if (!sameVerdicts)
    say(
      `WRONG VERDICTS ${JSON.stringify(proof.verdicts)}, expected ${JSON.stringify(expected.verdicts)}`,
    );
  say(`verdicts ${JSON.stringify(proof.verdicts)}`);
  say(
    `${proof.asked} asked; ${memory()} MB at most, ${before} MB of them before; proved in ${secondsSince(proving)} s`,
  );
  say(
    `${books.planted.size - missed} of ${books.planted.size} faults found, ${alarms} false alarms`,
  );
  return missed === 0 && alarms === 0 && sameVerdicts && proof.complete;
}

/** Writes the orders in order, and credits and marks in another order, as from other tables. */
async function writeBooks(): Promise<void> {
  const [orders, credits, marks] = ['orders', 'credits', 'marks'].map((name) =>
    createWriteStream(pathOf(name)),
  );
  await write(orders!, 'reference,amount,amount_min,amount_max');
  await write(credits!, 'reference,amount,by_hand');
  await write(marks!, 'key');
  for (let number = 0; number < count; number++) {
    const { reference, orders: rows } = books.story(number);
    for (const [amount, least = '', most = ''] of rows)
      await write(orders!, `${csvCell(reference)},${amount},${least},${most}`);
    // 7,368,787 is prime: it visits each number once, far from its neighbours.
    const other = books.story(count % 7_368_787 === 0 ? number : (number * 7_368_787) % count);
    for (const [amount, byHand = ''] of other.credits)
      await write(credits!, `${csvCell(other.reference)},${amount},${byHand}`);
    if (other.isMarked) {
      await write(
        marks!,
        `\\x${(await identify({ kind: 'payment.succeeded', reference: other.reference })).key}`,
      );
    }
  }
  for (const stream of [orders!, credits!, marks!]) {
    stream.end();
    await once(stream, 'close');
  }
}

async function write(stream: WriteStream, line: string): Promise<void> {
  if (!stream.write(`${line}\n`)) await once(stream, 'drain');
}

function readerOf({ story }: SyntheticBooks): PaymentClient<Payment> {
  return {
    async getPayment(reference): Promise<Payment> {
      const { payment } = story(numberOf(reference));
      if (payment === undefined) throw new PaylinkError('not_found', 'there is no such payment');
      if (payment === 'error') throw new PaylinkError('service_error', 'the service failed');
      return { reference, type: 'payment', ...payment };
    },
  };
}

async function digestsOfStrayMarks(): Promise<Map<string, string>> {
  const digests = new Map<string, string>();
  for (const [number, { finding }] of books.planted) {
    const { reference } = books.story(number);
    if (finding !== 'mark_without_order') continue;
    digests.set((await identify({ kind: 'payment.succeeded', reference })).key, reference);
  }
  return digests;
}

function pathOf(name: string): string {
  return join(folder, `${name}.csv`);
}

/** Returns the process's peak memory in MB. */
function memory(): number {
  return Math.round(process.resourceUsage().maxRSS / 1_000);
}

function secondsSince(start: number): number {
  return Math.round((performance.now() - start) / 1_000);
}

function say(line: string): void {
  console.log(line);
}
