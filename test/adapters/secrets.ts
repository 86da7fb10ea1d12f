/**
 * The texts that must not appear in an output. Separate from watch.ts, which needs a test runner.
 */
const secrets = new Set<string>();

/** Registers a secret, a signature or a body. */
export function mustStaySecret(text: string): void {
  // Shorter texts would match by accident.
  if (text.trim().length >= 12) secrets.add(text);
}

export function forgetSecrets(): void {
  secrets.clear();
}

export function secretIn(output: string): string | undefined {
  return [...secrets].find((secret) => output.includes(secret));
}
