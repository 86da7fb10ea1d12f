import { Router } from 'express';
import { paymentWebhook } from '@paylink/express';
import { payments } from './payments.js';

export const paymentRoutes: Router = Router();

const secret = process.env['WEBHOOK_SECRET'];
paymentRoutes.post('/webhooks/payments', paymentWebhook({ secret }, payments.receive));

// The page that the customer returns to. First check that the order belongs to this customer.
paymentRoutes.get('/payments/:reference', (req, res, next) => {
  payments.settle(req.params.reference).then(({ status }) => res.json({ status }), next);
});
