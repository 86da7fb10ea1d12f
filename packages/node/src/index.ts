export { WebhookError, type WebhookEvent } from '@paylink/core';
export { copyBody } from './body-copy.js';
export { deliveryOf } from './delivery.js';
export { paymentWebhook, respond, type NodeHost } from './payment-webhook.js';
export { writeReply } from './write-reply.js';
