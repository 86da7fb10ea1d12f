export { createClient, type PaylinkClient } from './client.js';
export { isPaylinkError, PaylinkError } from './errors.js';
export type { PaymentLinkRequest } from './link.js';
export type { ClientOptions } from './options.js';
export type { Payment, PaymentLink } from './payment.js';
