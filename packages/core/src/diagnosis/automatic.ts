/**
 * The diagnosis that a receiver starts on its own outside of production. A stranger can cause it with any body, on a machine that
 * serves customers, so it takes no more than the limits below.
 */
import { isProduction } from '../environment.js';
import type { Logger } from '../logger.js';
import { createBudget, pause } from './budget.js';
import { diagnoseSpelling, search, type DiagnoseOptions, type Diagnosis } from './search.js';

const SLICE_TIME = 0.5;
// After each slice sixty times its length: less than 2 % of one core.
const REST = 60;
const LONGEST_REST = 500;

async function rest(used: number): Promise<void> {
  await pause(Math.min(REST * Math.max(used, SLICE_TIME), LONGEST_REST), { keepsProcess: false });
}

const LIMITS = {
  body: 65_536,
  text: 65_536,
  parsed: 8_192,
  depth: 64,
  bytes: 2_000_000,
  slice: 65_536,
  sliceTime: SLICE_TIME,
  rest,
};

// More than the causes that a stranger can bring about.
const MOST_CAUSES = 32;

/** What was refused: without a body where the form of the signature was enough. */
export type Refused = Omit<DiagnoseOptions, 'rawBody'> & { readonly rawBody: DiagnoseOptions['rawBody'] | undefined };

/** Logs the cause, unless it is among those that were logged before. */
export async function logCause({ rawBody, ...given }: Refused, logger: Logger, logged: Set<string>): Promise<void> {
  const { causes, message } = await (rawBody === undefined ? restedSpelling(given) : diagnoseMismatch({ rawBody, ...given }));
  const found = causes.map(({ code }) => code).join();
  if (found === '' || logged.has(found) || logged.size >= MOST_CAUSES || isProduction()) return;
  logged.add(found);
  logger.warn(`[paylink] why the signature does not match: ${message.replaceAll('\n', ' ')}`);
}

async function restedSpelling({ signature }: Pick<DiagnoseOptions, 'signature'>): Promise<Diagnosis> {
  await rest(0);
  return diagnoseSpelling(signature);
}

/** Begins in a later turn of the event loop, when the reply has been written, and rests before it resolves. */
export async function diagnoseMismatch(options: DiagnoseOptions): Promise<Diagnosis> {
  await rest(0);
  const diagnosis = await search(options, createBudget(LIMITS));
  await rest(SLICE_TIME);
  return diagnosis;
}
