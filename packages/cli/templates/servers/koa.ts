import Koa from 'koa';
import { checkout } from './checkout';
import { paymentRoutes } from './payment-webhook';

const app = new Koa();
// Above every body parser: the signature covers the raw bytes.
app.use(paymentRoutes);

app.use(async (ctx, next) => {
  if (ctx.method !== 'POST' || ctx.path !== '/checkout') return next();
  ctx.status = 201;
  ctx.body = await checkout(15_000);
});

app.listen(3000, () => console.log('http://localhost:3000'));
