import express from 'express';
import { checkout } from './checkout.js';
import { paymentRoutes } from './payment-webhook.js';

const app = express();
// Above every body parser: the signature covers the raw bytes.
app.use(paymentRoutes);
app.use(express.json());

app.post('/checkout', async (_req, res) => {
  res.status(201).json(await checkout(15_000));
});

app.listen(3000).on('listening', () => console.log('http://localhost:3000'));
