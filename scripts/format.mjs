/** Formats text as `pnpm format` formats files. */
import { readFileSync } from 'node:fs';
import { format as formatWith } from 'oxfmt';

const { ignorePatterns, ...OPTIONS } = JSON.parse(
  readFileSync(new URL('../.oxfmtrc.json', import.meta.url), 'utf8'),
);

/**
 * @param {string} name of a file, whose ending says the language
 * @param {string} text
 * @returns {Promise<string>}
 * @throws Error if the text has an error of syntax
 */
export async function format(name, text) {
  const { code, errors } = await formatWith(name, text, OPTIONS);
  if (errors.length > 0) throw new Error(`${name}: ${errors[0].message}`);
  return code;
}
