export type { ApiRequest } from './api/observed-request.js';
export { EmulatorError, type EmulatorErrorCode } from './base/emulator-error.js';
export type { DeliveryAttempt, EmulatorDelivery } from './deliveries/delivery.js';
export type { Emulator } from './emulator.js';
export type { EmulatorOptions } from './options.js';
export { startEmulator } from './start-emulator.js';
