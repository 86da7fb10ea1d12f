/** The names that `paylink audit` needs. Every name may change in every version. */
export {
  materialOf,
  UNKNOWN_SECRET,
  type Fault,
  type Material,
  type Severity,
} from './attacks/attack.js';
export { craftOf, rawAttacks, type Craft, type RawAttack } from './attacks/raw.js';
export { ACKNOWLEDGED, acknowledges } from './attacks/verdicts.js';
export { headerNames } from './delivery-forms.js';
export { chunked, Wire, type WireAnswer, type WireReply } from './wire.js';
