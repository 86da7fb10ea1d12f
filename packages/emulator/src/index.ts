export type { ApiRequest } from './api/request-log.js';
export type { DeliveryAttempt } from './deliveries/attempt.js';
export type { EmulatorDelivery, FaultOutcome } from './deliveries/delivery.js';
export { EmulatorError, type EmulatorErrorCode } from './emulator-error.js';
export { startEmulator, type Emulator } from './emulator.js';
export type { EmulatorOptions } from './options.js';
