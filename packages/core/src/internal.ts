/** Shared by Paylink's own packages. Nobody else may import it: names change in any release. */
export { isWellFormed } from './bytes.js';
export { collectBody, type BodyReader } from './collect-body.js';
export { isProduction } from './environment.js';
export { check } from './errors.js';
export { faultOfReference, isEventKind } from './event.js';
export { createLogger, cutReference, logLine, type LogFields } from './logger.js';
export { createReceiverOrRefuse } from './receiver.js';
export { DeliveryContext } from './delivery-context.js';
export { LazyAbort } from './lazy-abort.js';
export { errorReply } from './reply.js';
export { reasonOf } from './thrown.js';
export { checkSignal, withinBounds, type Bounds } from './time-limit.js';
export { LONGEST_TIMER, validateBound, validateOptions } from './validate-options.js';
