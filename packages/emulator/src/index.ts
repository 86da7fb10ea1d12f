export type { Assumed, AssumedOptions, NotificationSource } from './assumed.js';
export { startEmulator, type Emulator } from './emulator.js';
export type { EmulatorOptions } from './options.js';
export type { DeliveryAttempt, EmulatorDelivery } from './outbox.js';
export type { Payment, PaymentStatus } from './payment.js';
export type { Answer } from './send.js';
export type { ServiceErrorCode } from './service-error.js';
