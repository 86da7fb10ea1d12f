export { copyBodies } from './body-copy.js';
export { deliveryOf } from './delivery.js';
export { createGate } from './gate.js';
export { paymentWebhook, type NodeHost } from './payment-webhook.js';
export { withoutReply } from './request-view.js';
export { writeReply } from './write-reply.js';
