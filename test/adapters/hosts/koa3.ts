import Koa from 'koa';
import { koaHosts } from './koa.js';

export const [koa3, koa3Gate] = koaHosts('Koa 3', Koa);
