/** Quotes any text as one word of a POSIX shell. */
export function quoteForShell(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

/** Runs the installed command. Without the option, npx offers to download a stranger's package. */
export const NPX = 'npx --no-install paylink';
