export { WebhookError, type WebhookEvent } from '@paylink/core';
export { deliveryOf, toResponse } from './delivery.js';
export { paymentWebhook, type FetchHost } from './payment-webhook.js';
export type { FetchRequest } from './read-body.js';
