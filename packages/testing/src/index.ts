export { attacks, type AttackOptions } from './attacks/index.js';
export type { Attack, AttackCategory, Fault, Severity, Sign } from './attacks/attack.js';
export { auditReceiver } from './audit/index.js';
export type { AuditCause, CauseId } from './audit/causes.js';
export type { AuditOptions } from './audit/options.js';
export type { AuditReport, AuditResult, AuditStop } from './audit/report.js';
export type { DeliveryForms, HeaderNameOptions, InjectOptions } from './delivery-forms.js';
export type { InboxUnderTest } from './inbox-scenarios.js';
export {
  testPaymentStore,
  type CreatedStore,
  type PaymentStoreSuiteOptions,
  type StoreCapability,
  type StoreUnderTest,
} from './payment-store-suite.js';
export {
  signedDelivery,
  TEST_SECRET,
  type SignedDelivery,
  type SignedDeliveryOptions,
} from './signed-delivery.js';
export type { TestRunner } from './test-runner.js';
