/** Quotes any text as one word of a POSIX shell. */
export function quoteForShell(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

/** Writes the given options of a command, complete for a shell. */
export function optionsFor(given: Readonly<Record<string, string | undefined>>): string {
  return Object.entries(given)
    .map(([name, value]) => (value === undefined ? '' : ` --${name} ${quoteForShell(value)}`))
    .join('');
}

/** Writes any text as the last word of a command. */
export function lastWord(word: string): string {
  return (word.startsWith('-') ? '-- ' : '') + quoteForShell(word);
}

/** Runs the installed command under Deno, which alone loads modules of Supabase's functions. */
export const NPX_DENO = 'npx deno run -A npm:@paylink/cli';

/** Runs the installed command. Without the option, npx offers to download a stranger's package. */
export const NPX = 'Deno' in globalThis ? NPX_DENO : 'npx --no-install paylink';
