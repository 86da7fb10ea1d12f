import { WebhookVerificationService } from '@hookflo/tern';
import { SECRET, signatureOf } from '../delivery.js';
import type { Library } from './library.js';

/** Takes a Fetch `Request`, so the call creates one. GitHub's scheme is the closest to ours. */
export const tern: Library = {
  name: '@hookflo/tern',
  prepare(body) {
    const headers = {
      'content-type': 'application/json',
      'x-hub-signature-256': `sha256=${signatureOf(body)}`,
    };
    return async () => {
      const request = new Request('http://localhost/webhooks', { method: 'POST', headers, body });
      const result = await WebhookVerificationService.verifyWithPlatformConfig(
        request,
        'github',
        SECRET,
      );
      if (!result.isValid) throw new Error(result.error);
      return result.payload;
    };
  },
};
