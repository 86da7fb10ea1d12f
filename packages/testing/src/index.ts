export { attacks, type AttackOptions } from './attacks/index.js';
export type { Attack, AttackCategory, Severity } from './attacks/attack.js';
export { auditReceiver, type AuditOptions, type AuditReport, type AuditResult } from './audit/index.js';
export type { DeliveryForms, HeaderNameOptions, InjectOptions } from './delivery-forms.js';
export { testIdempotencyStore, type CreatedStore, type IdempotencySuiteOptions, type StoreUnderTest } from './idempotency-suite.js';
export { signedDelivery, TEST_SECRET, type SignedDelivery, type SignedDeliveryOptions } from './signed-delivery.js';
export type { TestRunner } from './test-runner.js';
