export { deliveryOf } from './delivery.js';
export { paymentWebhook, type NodeHost, type NodeWebhookOptions } from './payment-webhook.js';
export { writeReply } from './write-reply.js';
