import { Webhook } from 'svix';
import { SECRET } from '../delivery.js';
import type { Library } from './library.js';

export const svix: Library = {
  name: 'svix',
  prepare(body) {
    const webhook = new Webhook(SECRET, { format: 'raw' });
    const now = new Date();
    const headers = {
      'svix-id': 'msg_1',
      'svix-timestamp': String(Math.floor(now.getTime() / 1000)),
      'svix-signature': webhook.sign('msg_1', now, body),
    };
    return () => webhook.verify(body, headers);
  },
};
