import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import { checkout } from './checkout';
import { paymentRoutes } from './payment-webhook';

const app = new Hono();
app.route('/', paymentRoutes);
app.post('/checkout', async (c) => c.json(await checkout(15_000), 201));

serve({ fetch: app.fetch, port: 3000 }, () => console.log('http://localhost:3000'));
