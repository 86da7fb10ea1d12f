/** Other packages as documented, each with its own service's signatures. */
import { createHmac } from 'node:crypto';
import { createRequire } from 'node:module';
import type { RequestListener } from 'node:http';
import { WebhookVerificationService } from '@hookflo/tern';
import { createNodeMiddleware, Webhooks as OctokitWebhooks } from '@octokit/webhooks';
import { Webhooks as polarWebhooks } from '@polar-sh/express';
import type { auditReceiver, AuditReport } from '@paylink/testing';
import express, { type RequestHandler } from 'express';
import { Webhook } from 'standardwebhooks';
import Stripe from 'stripe';
import { Webhook as SvixWebhook } from 'svix';

export interface Peer {
  readonly name: string;
  readonly version: string;
  readonly listener: () => RequestListener;
  /** The set-up, in one sentence. */
  readonly setup: string;
  /** Every critical, high or medium cause. */
  readonly causes: readonly AuditReport['causes'][number]['id'][];
  readonly audit: Pick<
    Parameters<typeof auditReceiver>[0],
    'secret' | 'sign' | 'headers' | 'requestHeaders'
  >;
}

const require = createRequire(import.meta.url);
const PEER_SECRET = 'a-secret-of-the-peers-0123456789';
const BASE64_SECRET = Buffer.from(PEER_SECRET).toString('base64');
const seconds = (): string => String(Math.floor(Date.now() / 1_000));

const mac = (key: string | Uint8Array, ...parts: readonly (string | Uint8Array)[]) =>
  parts.reduce((hmac, part) => hmac.update(part), createHmac('sha256', key));

function versionOf(name: string): string {
  const main = require.resolve(name);
  const folder = main.slice(
    0,
    main.lastIndexOf(`node_modules/${name}/`) + `node_modules/${name}/`.length,
  );
  return (require(`${folder}package.json`) as { version: string }).version;
}

const github: Peer['audit'] = {
  secret: PEER_SECRET,
  sign: (rawBody, secret) => `sha256=${mac(secret, rawBody).digest('hex')}`,
  headers: { signature: 'x-hub-signature-256', event: 'x-github-event' },
  requestHeaders: {
    'x-github-delivery': '72d3162e-cc78-11e3-81ab-4c9367dc0958',
    'user-agent': 'GitHub-Hookshot/1',
  },
};

/** Standard Webhooks signs an id and a time with the body. */
function standard(
  prefix: 'webhook' | 'svix',
  keyOf: (secret: string | Uint8Array) => Uint8Array,
  secret: string,
): Peer['audit'] {
  const [id, time] = ['msg_1', seconds()];
  return {
    secret,
    sign: (rawBody, given) => `v1,${mac(keyOf(given), `${id}.${time}.`, rawBody).digest('base64')}`,
    headers: { signature: `${prefix}-signature`, event: 'x-service-event' },
    requestHeaders: { [`${prefix}-id`]: id, [`${prefix}-timestamp`]: time },
  };
}

const fromBase64 = (secret: string | Uint8Array): Uint8Array =>
  Buffer.from(String(secret), 'base64');
const asIs = (secret: string | Uint8Array): Uint8Array => Buffer.from(secret as string);

function onExpress(...handlers: RequestHandler[]): RequestListener {
  return express().post('/hook', ...handlers) as RequestListener;
}

/** Verifies the received body, as documented, and answers 400 to an exception. */
function verifying(verify: (req: Parameters<RequestHandler>[0]) => unknown): RequestListener {
  return onExpress(express.raw({ type: '*/*' }), (req, res) => {
    try {
      verify(req);
    } catch {
      return void res.sendStatus(400);
    }
    res.sendStatus(200);
  });
}

const stripe = new Stripe('sk_test_of_no_account');

export const peers: readonly Peer[] = [
  {
    name: 'stripe',
    version: versionOf('stripe'),
    setup: "`stripe.webhooks.constructEvent` over `express.raw({ type: '*/*' })`.",
    causes: ['decodes_text', 'inflates', 'content_type'],
    listener: () =>
      verifying((req) =>
        stripe.webhooks.constructEvent(
          req.body as Buffer,
          req.get('stripe-signature') ?? '',
          PEER_SECRET,
        ),
      ),
    audit: {
      secret: PEER_SECRET,
      sign: (rawBody, secret) => {
        const time = seconds();
        return `t=${time},v1=${mac(secret, `${time}.`, rawBody).digest('hex')}`;
      },
      headers: { signature: 'stripe-signature' },
    },
  },
  {
    name: '@octokit/webhooks',
    version: versionOf('@octokit/webhooks'),
    setup: '`createNodeMiddleware` on `node:http`.',
    causes: ['decodes_text', 'no_limit', 'hangs', 'content_type'],
    listener: () => {
      const silent = {
        debug: () => undefined,
        info: () => undefined,
        warn: () => undefined,
        error: () => undefined,
      };
      const middleware = createNodeMiddleware(
        new OctokitWebhooks({ secret: PEER_SECRET, log: silent }),
        {
          path: '/hook',
          log: silent,
        },
      );
      // Under `createServer`, the rejection would be unhandled and end the tests.
      return (req, res) => void middleware(req, res).catch(() => undefined);
    },
    audit: github,
  },
  {
    name: 'standardwebhooks',
    version: versionOf('standardwebhooks'),
    setup: "`new Webhook(secret).verify` over `express.raw({ type: '*/*' })`.",
    causes: ['decodes_text', 'inflates', 'content_type'],
    listener: () =>
      verifying((req) =>
        new Webhook(BASE64_SECRET).verify(
          req.body as Buffer,
          req.headers as Record<string, string>,
        ),
      ),
    audit: standard('webhook', fromBase64, BASE64_SECRET),
  },
  {
    name: 'svix',
    version: versionOf('svix'),
    setup: "`new Webhook(secret).verify` over `express.raw({ type: '*/*' })`.",
    causes: ['decodes_text', 'inflates', 'content_type'],
    listener: () =>
      verifying((req) =>
        new SvixWebhook(BASE64_SECRET).verify(
          req.body as Buffer,
          req.headers as Record<string, string>,
        ),
      ),
    audit: standard('svix', fromBase64, BASE64_SECRET),
  },
  {
    name: '@polar-sh/express',
    version: versionOf('@polar-sh/express'),
    setup:
      '`Webhooks` behind `express.json()`; a body that is verified and not an event of Polar counts as accepted.',
    causes: ['reserializes', 'quotes_body'],
    listener: () =>
      onExpress(
        express.json(),
        (req, res, next) => {
          // A verified body that is not a Polar event fails in its schema, after the judged part.
          const status = res.status.bind(res);
          res.status = (code) => status(code === 500 && req.body !== undefined ? 200 : code);
          next();
        },
        polarWebhooks({ webhookSecret: PEER_SECRET }),
      ),
    audit: standard('webhook', asIs, PEER_SECRET),
  },
  {
    name: '@hookflo/tern',
    version: versionOf('@hookflo/tern'),
    setup: "`verifyWithPlatformConfig` for GitHub, over `express.raw({ type: '*/*' })`.",
    causes: ['decodes_text', 'inflates', 'content_type'],
    listener: () =>
      onExpress(express.raw({ type: '*/*' }), async (req, res) => {
        const headers = new Headers(req.headers as Record<string, string>);
        const body = Buffer.isBuffer(req.body) ? new Uint8Array(req.body) : undefined;
        const request = new Request('http://receiver/hook', {
          method: 'POST',
          headers,
          body: body ?? null,
        });
        const { isValid } = await WebhookVerificationService.verifyWithPlatformConfig(
          request,
          'github',
          PEER_SECRET,
        );
        res.sendStatus(isValid ? 200 : 400);
      }),
    audit: github,
  },
];
