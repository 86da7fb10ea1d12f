/** Prints the report of a run for people. */
import type { ShopFlags } from '../shop/with-shop.js';
import { API_KEY_VARIABLE } from '../terminal/dotenv.js';
import type { Output } from '../terminal/output.js';
import { text } from '../terminal/safe-text.js';
import { lastWord, NPX, optionsFor } from '../terminal/shell.js';
import type { RunError, RunReport, Sweep } from './run.js';

/** References in one line of a report. */
const SHOWN = 10;

const SENTENCES: Readonly<Record<string, string>> = {
  noPayment: 'the service has no payment for',
  notPaid: 'paid in your database, but not at the service',
  differs: 'a different amount or currency at the service',
};

export function showReport(
  { time, tenant, durationMs, result, counts, lists, errors, undecided, reason, cursor }: RunReport,
  { name: command, findings }: Sweep,
  { module, dotenv, ...flags }: ShopFlags,
  output: Output,
): void {
  const options = optionsFor({ module, dotenv, tenant: flags.tenant && String(tenant) });
  const explain = (reference: string) => `${NPX} explain${options} ${lastWord(reference)}`;
  const test = `${NPX} doctor${optionsFor({ module })} --dotenv <of a test database> --yes`;
  const { read = 0, ...others } = counts;
  const parts = Object.entries(others)
    .filter(([name, count]) => count > 0 || name === 'credited' || name === 'confirmed')
    .map(([name, count]) => `${wordsOf(name)} ${count}`);
  const of = tenant === null ? '' : ` of ${tenant}`;
  const took = `${(durationMs / 1_000).toFixed(1)} s`;
  output.line(text`${time} ${result}${of}: read ${read} orders in ${took}: ${parts.join(', ')}`);
  for (const [name, references] of Object.entries(lists)) {
    const [first] = references;
    const sentence = SENTENCES[name];
    if (sentence === undefined || first === undefined) continue;
    output.line(text`  ${sentence}: ${listed(references, counts[name]!)}`);
    if (findings.includes(name)) output.line(text`  ${explain(first)}`);
  }
  // One line per outcome: the log of `payments` has a line for each order.
  for (const [code, references] of byCode(undecided)) {
    output.line(text`  ${code}, needs a manual decision: ${listed(references, references.length)}`);
    output.line(text`  ${explain(references[0]!)}`);
  }
  for (const [code, references] of byCode(errors)) {
    const { message } = errors.find((error) => error.code === code)!;
    if (references.length === 0) output.error(`the run failed: ${code}: ${message}`);
    else {
      const same = `${code}: ${listed(references, references.length)}`;
      // `explain` writes nothing, so it cannot know why a credit fails.
      const isCredit = code === 'not_credited' || message.startsWith('credit()');
      output.error(`${same}: ${message}`, [isCredit ? test : explain(references[0]!)]);
    }
  }
  if (reason === undefined) return;
  const left = listed(lists['notAsked']!, counts['notAsked']!);
  const isKey = reason.includes('API key');
  const fix = isKey
    ? `compare ${API_KEY_VARIABLE} with the key in the service's portal`
    : `${NPX} ${command}${options}${optionsFor({ cursor })}`;
  output.error(`${reason}, so the run did not ask about ${left}`, [fix]);
}

/** The references of each code. An error of the whole run has none. */
function byCode(errors: readonly RunError[]): Map<string, string[]> {
  const references = new Map<string, string[]>();
  for (const { code, reference = '' } of errors) {
    const same = references.get(code) ?? [];
    if (reference !== '') same.push(reference);
    references.set(code, same);
  }
  return references;
}

function listed(references: readonly string[], count: number): string {
  const shown = references.slice(0, SHOWN).join(', ');
  return count > SHOWN ? `${shown} and ${count - SHOWN} more` : shown;
}

/** Splits `notAsked` into `not asked`. */
function wordsOf(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}
