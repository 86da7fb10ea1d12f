/** Where warnings and failures are told to the merchant. Never given a secret, a signature, a key or a body. */
export interface Logger {
  warn(message: string): void;
  error(message: string): void;
}
