/** Whether this is production. Where nobody can tell, it is: a protection must not be off because a runtime has no `process`. */
export function isProduction(): boolean {
  try {
    // Spelt as bundlers know it: a Worker has no `process`, and its bundle has the value in this place.
    return process.env['NODE_ENV'] === 'production';
  } catch {
    return true;
  }
}
