/** Whether this is production. A runtime without `process` counts as production: no protection may be off because the runtime does not say. */
export function isProduction(): boolean {
  try {
    // Written as bundlers recognise it: a Worker has no `process`, and its bundle has the value in this place.
    return process.env['NODE_ENV'] === 'production';
  } catch {
    return true;
  }
}
