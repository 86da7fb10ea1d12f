export { EmulatorError } from './base/emulator-error.js';
export type { EmulatorDelivery } from './deliveries/delivery.js';
export type { Emulator } from './emulator.js';
export type { EmulatorOptions } from './options.js';
export { startEmulator } from './start-emulator.js';
