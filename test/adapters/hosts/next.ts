/** The Pages Router of Next.js: its own request and response around node:http. */
import { paymentWebhookApi } from '@paylink/next/pages';
import type { NextApiHandler } from 'next';
// `next start` and `next dev` call an API route with this request and response of Next.js.
import { apiResolver } from 'next/dist/server/api-utils/node/api-resolver.js';
import { listening, serverFor, SLOW, USUAL, type Host } from './host.js';

const PREVIEW = {
  previewModeId: '',
  previewModeEncryptionKey: '',
  previewModeSigningKey: '',
  dev: false,
};

export const nextPages: Host = {
  name: 'Next.js, Pages Router',
  capabilities: {
    ...USUAL,
    routes: false,
    context: ['req'],
    surroundings: ['a text parser', 'something slow', 'every method'],
    hint: /export const config = \{ api: \{ bodyParser: false \} \};/,
  },
  listen(setup) {
    const { options, handler, surroundings, onHostError } = setup;
    const webhook = paymentWebhookApi(options, handler);
    const route: NextApiHandler = async (req, res) => {
      if (surroundings === 'something slow') await new Promise((go) => setTimeout(go, SLOW));
      await webhook(req, res);
    };
    const config = { api: { bodyParser: surroundings === 'a text parser' } };
    return listening(
      serverFor(setup, (req, res) =>
        apiResolver(req, res, {}, { default: route, config }, PREVIEW, true).catch(onHostError),
      ),
    );
  },
};
