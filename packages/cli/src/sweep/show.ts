/** Prints the report of a run for people. */
import type { ShopFlags } from '../shop/with-shop.js';
import { API_KEY_VARIABLE } from '../terminal/dotenv.js';
import type { Output } from '../terminal/output.js';
import { text } from '../terminal/safe-text.js';
import { lastWord, NPX, optionsFor } from '../terminal/shell.js';
import type { RunReport, Sweep } from './run.js';

/** References in one line of a report. */
const SHOWN = 10;

const SENTENCES: Readonly<Record<string, string>> = {
  noPayment: 'the service has no payment of',
  notPaid: 'paid in your database, and not at the service',
  differs: 'another amount or currency at the service',
};

export function showReport(
  { time, tenant, durationMs, result, counts, lists, errors }: RunReport,
  { findings }: Sweep,
  { module, dotenv, ...flags }: ShopFlags,
  output: Output,
): void {
  const options = optionsFor({ module, dotenv, tenant: flags.tenant && String(tenant) });
  const explain = (reference: string) => `${NPX} explain${options} ${lastWord(reference)}`;
  const { read = 0, ...others } = counts;
  const parts = Object.entries(others)
    .filter(([name, count]) => count > 0 || name === 'credited' || name === 'confirmed')
    .map(([name, count]) => `${wordsOf(name)} ${count}`);
  const of = tenant === null ? '' : ` of ${tenant}`;
  const took = `${(durationMs / 1_000).toFixed(1)} s`;
  output.line(text`${time} ${result}${of}: read ${read} orders in ${took}: ${parts.join(', ')}`);
  for (const [name, references] of Object.entries(lists)) {
    const [first] = references;
    if (name === 'credited' || first === undefined) continue;
    output.line(text`  ${SENTENCES[name]!}: ${listed(references, counts[name]!)}`);
    if (findings.includes(name)) output.line(text`  ${explain(first)}`);
  }
  // One line per outcome: the log of `payments` has a line for each order.
  for (const code of new Set(errors.map((error) => error.code))) {
    const same = errors.filter((error) => error.code === code);
    const references = same.flatMap(({ reference = '' }) => (reference === '' ? [] : reference));
    if (references.length === 0) output.error(`the run failed: ${code}: ${same[0]!.message}`);
    else
      output.error(`${code}: ${listed(references, references.length)}`, [explain(references[0]!)]);
  }
  if (result === 'key_refused')
    output.error('the service refused the API key (401)', [
      `compare ${API_KEY_VARIABLE} with the key in the service's portal`,
    ]);
}

function listed(references: readonly string[], count: number): string {
  const shown = references.slice(0, SHOWN).join(', ');
  return count > SHOWN ? `${shown} and ${count - SHOWN} more` : shown;
}

/** Splits `notAsked` into `not asked`. */
function wordsOf(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}
