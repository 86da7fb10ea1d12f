export type { ApiRequest } from './api/request-log.js';
export type {
  Assumed,
  AssumedOptions,
  NotificationSource,
  RateLimit,
  ReplayAnswer,
} from './assumed.js';
export type { DeliveryAttempt, SentRequest } from './deliveries/attempt.js';
export type { EmulatorDelivery, FaultOutcome } from './deliveries/delivery.js';
export type { Disturbance } from './deliveries/disturbances.js';
export type { AwaitedDelivery } from './deliveries/waiting.js';
export { EmulatorError, type EmulatorErrorCode } from './emulator-error.js';
export { startEmulator, type Emulator } from './emulator.js';
export {
  FAULTS,
  type Expectation,
  type Fault,
  type FaultDescription,
  type Reaction,
} from './faults/faults.js';
export { expectationOf, type Verdict } from './faults/verdict.js';
export type { FaultOptions } from './faults/faulty-notifications.js';
export type { EmulatorOptions } from './options.js';
export type { CreatedLink, Payment, PaymentLinkFields, PaymentStatus } from './payments/payment.js';
export type { Answer } from './deliveries/send.js';
export type { ServiceErrorCode } from './api/service-error.js';
