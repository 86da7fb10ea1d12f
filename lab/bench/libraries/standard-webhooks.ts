import { Webhook } from 'standardwebhooks';
import { SECRET } from '../delivery.js';
import type { Library } from './library.js';

export const standardWebhooks: Library = {
  name: 'standardwebhooks',
  prepare(body) {
    const webhook = new Webhook(SECRET, { format: 'raw' });
    const now = new Date();
    const headers = {
      'webhook-id': 'msg_1',
      'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
      'webhook-signature': webhook.sign('msg_1', now, body),
    };
    return () => webhook.verify(body, headers);
  },
};
