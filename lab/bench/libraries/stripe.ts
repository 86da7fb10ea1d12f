import Stripe from 'stripe';
import { SECRET } from '../delivery.js';
import type { Library } from './library.js';

const { webhooks } = new Stripe('sk_test_none');

export const stripe: Library = {
  name: 'stripe',
  prepare(body) {
    const header = webhooks.generateTestHeaderString({ payload: body.toString(), secret: SECRET });
    return () => webhooks.constructEvent(body, header, SECRET);
  },
};
