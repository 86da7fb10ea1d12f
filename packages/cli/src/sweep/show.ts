/** Prints the report of a run for people. */
import type { ShopFlags } from '../shop/with-shop.js';
import { API_KEY_VARIABLE } from '../terminal/dotenv.js';
import type { Output } from '../terminal/output.js';
import { text } from '../terminal/safe-text.js';
import { lastWord, NPX, optionsFor } from '../terminal/shell.js';
import { FINDINGS, type RunList, type RunReport, type SweepName } from './run.js';

/** References in one line of a report. */
const SHOWN = 10;

const SENTENCES: Readonly<Record<string, string>> = {
  noPayment: 'the service has no payment for',
  notPaid: 'paid in your database, but not at the service',
  differs: 'a different amount or currency at the service',
};

export function showReport(
  { time, tenant, durationMs, result, read, lists, error, reason, cursor }: RunReport,
  command: SweepName,
  { module, dotenv, ...flags }: ShopFlags,
  output: Output,
): void {
  const options = optionsFor({ module, dotenv, tenant: flags.tenant && String(tenant) });
  const explain = (reference: string) => `${NPX} explain${options} ${lastWord(reference)}`;
  const test = `${NPX} doctor${optionsFor({ module })} --dotenv <of a test database> --yes`;
  const parts = Object.entries(lists)
    .filter(([name, { count }]) => count > 0 || name === 'credited' || name === 'confirmed')
    .map(([name, { count }]) => `${wordsOf(name)} ${count}`);
  const of = tenant === null ? '' : ` of ${tenant}`;
  const took = `${(durationMs / 1_000).toFixed(1)} s`;
  const orders = read === 1 ? '1 order' : `${read} orders`;
  output.line(text`${time} ${result}${of}: read ${orders} in ${took}: ${parts.join(', ')}`);
  for (const [name, sentence] of Object.entries(SENTENCES)) {
    const { references = [], count = 0 } = lists[name] ?? {};
    const [first] = references;
    if (first === undefined) continue;
    output.line(text`  ${sentence}: ${listed(references, count)}`);
    if (FINDINGS[command].includes(name)) output.line(text`  ${explain(first)}`);
  }
  // One line per outcome: the log of `payments` has a line for each order.
  for (const [outcome, { references }] of byOutcome(lists['undecided'])) {
    const all = listed(references, references.length);
    output.line(text`  ${outcome}, needs a manual decision: ${all}`);
    output.line(text`  ${explain(references[0]!)}`);
  }
  for (const [outcome, { references, message }] of byOutcome(lists['errors'])) {
    // `explain` writes nothing, so it cannot know why a credit fails.
    const isCredit = outcome === 'not_credited' || message.startsWith('credit()');
    const same = `${outcome}: ${listed(references, references.length)}`;
    output.error(`${same}: ${message}`, [isCredit ? test : explain(references[0]!)]);
  }
  if (error !== undefined) output.error(`the run failed: ${error.code}: ${error.message}`);
  if (reason === undefined) return;
  const { references, count } = lists['notAsked']!;
  const isKey = reason.includes('API key');
  const fix = isKey
    ? `compare ${API_KEY_VARIABLE} with the key in the service's portal`
    : `${NPX} ${command}${options}${optionsFor({ cursor })}`;
  output.error(`${reason}, so the run did not ask about ${listed(references, count)}`, [fix]);
}

/** The orders of each outcome, with the message of the first. */
function byOutcome({ details = [] }: Partial<RunList> = {}) {
  const groups = new Map<string, { readonly references: string[]; readonly message: string }>();
  for (const { outcome, reference, message } of details) {
    const { references } = groups.get(outcome) ?? { references: [] as string[] };
    if (references.push(reference) === 1) groups.set(outcome, { references, message });
  }
  return groups;
}

function listed(references: readonly string[], count: number): string {
  const shown = references.slice(0, SHOWN).join(', ');
  return count > SHOWN ? `${shown} and ${count - SHOWN} more` : shown;
}

/** Splits `notAsked` into `not asked`. */
function wordsOf(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}
