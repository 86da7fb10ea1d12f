import Koa from 'koa';
import { paymentRoutes } from './payment-webhook';

const listener = new Koa().use(paymentRoutes).callback();
