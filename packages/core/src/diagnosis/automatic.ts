/**
 * The diagnosis that a receiver starts by itself outside production. A stranger can trigger the
 * diagnosis with any body, so it stays within the limits below.
 */
import { findMatch } from '#hmac';
import { isProduction } from '../environment.js';
import type { Logger } from '../logger.js';
import { importSecrets } from '../secret.js';
import { createBudget } from './budget.js';
import type { Refused } from './explain.js';
import { diagnoseSpelling, search, type DiagnoseOptions, type Diagnosis } from './search.js';

const SLICE_TIME = 0.5;
/** A pause is sixty times as long as its slice: the diagnosis uses under 2 % of one core. */
const REST = 60;
const LONGEST_REST = 500;

const LIMITS = {
  body: 65_536,
  text: 65_536,
  parsed: 4_096,
  bytes: 2_000_000,
  slice: 65_536,
  sliceTime: SLICE_TIME,
  rest,
};

/** `paylink doctor` signs its forged probe over the body and this text. It needs no diagnosis. */
const PROBE = new TextEncoder().encode('\npaylink doctor probe');

/** Logs the causes with the delivery's time and length. Logs each set of causes once. */
export async function logCause(refused: Refused, logger: Logger, logged: Set<string>) {
  await rest(0);
  const { rawBody, signature, secret, at } = refused;
  if (rawBody !== undefined && (await isProbe({ rawBody, signature, secret }))) return;
  const { cause, causes, message } =
    rawBody === undefined
      ? diagnoseSpelling(signature)
      : await diagnoseMismatch({ rawBody, signature, secret });
  // The spelling of a signature alone has too many sets of causes: the first one stands for all.
  const found = rawBody === undefined ? cause : causes.map(({ code }) => code).join();
  if (!found || logged.has(found) || isProduction()) return;
  logged.add(found);
  const length = rawBody === undefined ? '' : ` of ${rawBody.length} bytes`;
  const delivery = `the delivery${length} at ${at.toISOString().slice(11, 23)} UTC`;
  const line = `[paylink] the signature of ${delivery} does not match. ${message}`;
  logger.warn(line.replaceAll('\n', ' '), { code: 'invalid_signature', status: 401 });
}

async function isProbe({ rawBody, signature, secret }: Mismatch): Promise<boolean> {
  const probed = new Uint8Array(rawBody.length + PROBE.length);
  probed.set(rawBody);
  probed.set(PROBE, rawBody.length);
  return (await findMatch(importSecrets(secret), probed, signature as string)) >= 0;
}

type Mismatch = DiagnoseOptions & { readonly rawBody: Uint8Array };

/** Searches within the limits, and pauses before it resolves. */
export async function diagnoseMismatch(mismatch: DiagnoseOptions): Promise<Diagnosis> {
  const diagnosis = await search(mismatch, createBudget(LIMITS));
  await rest(SLICE_TIME);
  return diagnosis;
}

function rest(used: number): Promise<void> {
  const milliseconds = Math.min(REST * Math.max(used, SLICE_TIME), LONGEST_REST);
  return new Promise((resolve) => {
    const timer: unknown = setTimeout(resolve, milliseconds);
    // Only Node's timers keep a process alive, and only Node's timers have `unref`.
    (timer as { unref?: () => void }).unref?.();
  });
}
