/** Verifications as in their libraries' documentation. */
import { WebhookVerificationService } from '@hookflo/tern';
import { sign, verify } from '@octokit/webhooks-methods';
import { createVerifier } from '@paylink/core';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import Stripe from 'stripe';
import { Webhook as SvixWebhook } from 'svix';
import { isSigned } from './by-hand.js';
import { nodeHeaders, SECRET, signatureOf } from './delivery.js';

/** Signs the body in the library's scheme, and returns the measured call. */
export type Library = (body: Buffer) => () => unknown;

// The built file behind core's `#hmac`. It has no public entry, because merchants have no use for
// the HMAC alone.
const BUILT_HMAC = new URL('../../packages/core/dist/hmac.node.js', import.meta.url).href;
const { findMatch, HmacKey } = (await import(
  BUILT_HMAC
)) as typeof import('../../packages/core/src/hmac.node.js');
const { webhooks } = new Stripe('sk_test_none');

/** Checks of a signature alone, by hand first. */
export const SIGNATURES: Readonly<Record<string, Library>> = {
  'by hand'(body) {
    const signature = signatureOf(body);
    return () => requireTrue(isSigned(body, signature, SECRET));
  },
  paylink(body) {
    const keys = [new HmacKey(Buffer.from(SECRET))];
    const signature = signatureOf(body);
    return async () => requireTrue((await findMatch(keys, body, signature)) === 0);
  },
};

/** Verifications that return the parsed event, by hand first. */
export const EVENTS: Readonly<Record<string, Library>> = {
  'by hand'(body) {
    const signature = signatureOf(body);
    return () =>
      requireTrue(isSigned(body, signature, SECRET)) && (JSON.parse(body.toString()) as unknown);
  },
  paylink(body) {
    const verifier = createVerifier({ secret: SECRET });
    const headers = nodeHeaders(body);
    return () => verifier.verify(body, headers);
  },
  // It verifies text and leaves the parsing to its user.
  '@octokit/webhooks-methods, then JSON.parse'(body) {
    const signature = sign(SECRET, body.toString());
    return async () => {
      const text = body.toString();
      return (
        requireTrue(await verify(SECRET, text, await signature)) && (JSON.parse(text) as unknown)
      );
    };
  },
  stripe(body) {
    const header = webhooks.generateTestHeaderString({ payload: body.toString(), secret: SECRET });
    return () => webhooks.constructEvent(body, header, SECRET);
  },
  standardwebhooks: (body) => signedWith(StandardWebhook, 'webhook', body),
  svix: (body) => signedWith(SvixWebhook, 'svix', body),
  // It takes a Fetch `Request`, so the call creates one. GitHub's scheme is the closest to ours.
  '@hookflo/tern'(body) {
    const headers = {
      'content-type': 'application/json',
      'x-hub-signature-256': `sha256=${signatureOf(body)}`,
    };
    return async () => {
      const request = new Request('http://localhost/webhooks', { method: 'POST', headers, body });
      const { isValid, error, payload } = await WebhookVerificationService.verifyWithPlatformConfig(
        request,
        'github',
        SECRET,
      );
      if (!isValid) throw new Error(error);
      return payload;
    };
  },
};

/** Signs by the specification Standard Webhooks, which both libraries implement. */
function signedWith(
  Webhook: typeof StandardWebhook | typeof SvixWebhook,
  prefix: string,
  body: Buffer,
): () => unknown {
  const webhook = new Webhook(SECRET, { format: 'raw' });
  const now = new Date();
  const headers = {
    [`${prefix}-id`]: 'msg_1',
    [`${prefix}-timestamp`]: String(Math.floor(now.getTime() / 1000)),
    [`${prefix}-signature`]: webhook.sign('msg_1', now, body),
  };
  return () => webhook.verify(body, headers);
}

function requireTrue(isRight: boolean): true {
  if (!isRight) throw new Error('wrong signature');
  return true;
}
