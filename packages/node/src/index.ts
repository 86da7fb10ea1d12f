export { deliveryOf } from './delivery.js';
export { createGate, provenEvent, webhookEvent, type NodeGate } from './gate.js';
export { paymentWebhook, type NodeHost, type NodeWebhookOptions } from './payment-webhook.js';
export { isClaimed } from './read-body.js';
export { endBegun, writeReply } from './write-reply.js';
