/** The least that the packages run on; package.json's `engines` says the same. Loaded by whatever Node there is, so plain. */
var LEAST = [20, 19];

/** Why this Node is too old, or nothing. */
export function tooOld() {
  var parts = process.versions.node.split('.').map(Number);
  if (parts[0] > LEAST[0] || (parts[0] === LEAST[0] && parts[1] >= LEAST[1])) return undefined;
  return (
    'Paylink needs Node ' +
    LEAST.join('.') +
    ' or newer, and this is ' +
    process.versions.node +
    '. Get one at https://nodejs.org'
  );
}
