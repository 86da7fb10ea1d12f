export function isProduction(): boolean {
  // Not every runtime has a `process`.
  const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } };
  return process?.env?.['NODE_ENV'] === 'production';
}
