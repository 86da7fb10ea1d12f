export { deliveryOf } from './delivery.js';
export { paymentWebhook, type FetchHandler, type FetchHost } from './payment-webhook.js';
