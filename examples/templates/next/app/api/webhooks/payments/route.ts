export { POST } from '../../../../lib/payment-webhook';
