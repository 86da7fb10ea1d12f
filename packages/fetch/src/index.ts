export { deliveryOf, toResponse, type FetchDelivery } from './delivery.js';
export { paymentWebhook, type FetchHandler, type FetchHost } from './payment-webhook.js';
export type { FetchRequest } from './read-body.js';
