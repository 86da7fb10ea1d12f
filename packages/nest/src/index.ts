export { WebhookError, webhookEvent, type WebhookEvent } from '@paylink/core';
export { paymentGate, type NestGateHost } from './gate.js';
export { PaymentWebhookModule } from './module.js';
export type { NodeHost as NestHost } from '@paylink/node';
