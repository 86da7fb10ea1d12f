/** A runtime without `process` counts as production, so that protections stay on. */
export function isProduction(): boolean {
  try {
    // Bundlers replace exactly this expression.
    return process.env['NODE_ENV'] === 'production';
  } catch {
    return true;
  }
}
