/** What may be in no output of a test. Apart from watch.ts, which needs a test runner around it. */
const secrets = new Set<string>();

/** Notes a secret, a signature or a body. */
export function mustStaySecret(text: string): void {
  // Shorter ones would be found by accident.
  if (text.trim().length >= 12) secrets.add(text);
}

export function forgetSecrets(): void {
  secrets.clear();
}

export function secretIn(output: string): string | undefined {
  return [...secrets].find((secret) => output.includes(secret));
}
