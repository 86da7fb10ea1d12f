/** Whether this is production. A runtime that cannot say counts as production: a protection must not be off for want of `process`. */
export function isProduction(): boolean {
  try {
    // Written as bundlers recognise it: a Worker has no `process`, and its bundle has the value in this place.
    return process.env['NODE_ENV'] === 'production';
  } catch {
    return true;
  }
}
