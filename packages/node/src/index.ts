export { deliveryOf } from './delivery.js';
export { createGate, type NodeGate } from './gate.js';
export { paymentWebhook, type NodeHost } from './payment-webhook.js';
export { writeReply } from './write-reply.js';
