/** What every adapter exports, and set-up mistakes, which it rejects at startup. */
import 'reflect-metadata';
import { ConfigurationError, WebhookError } from '@paylink/core';
import * as express from '@paylink/express';
import * as fastify from '@paylink/fastify';
import * as fetchHost from '@paylink/fetch';
import * as hono from '@paylink/hono';
import * as koa from '@paylink/koa';
import * as lambda from '@paylink/lambda';
import * as nest from '@paylink/nest';
import * as next from '@paylink/next';
import * as pages from '@paylink/next/pages';
import * as node from '@paylink/node';
import { expect, it } from 'vitest';

const handler = (): undefined => undefined;
const SILENT = { warn: handler, error: handler };
type Make = (options: unknown, handlers: unknown) => unknown;
/** Untyped, as in plain JavaScript. */
const untyped: Readonly<Record<string, Make>> = {
  'node:http': node.paymentWebhook as Make,
  Express: express.paymentWebhook as Make,
  Fastify: (options, handlers) =>
    (fastify.paymentWebhook as Make)({ url: '/', ...(options as object) }, handlers),
  Koa: koa.paymentWebhook as Make,
  Hono: hono.paymentWebhook as Make,
  Fetch: fetchHost.paymentWebhook as Make,
  'Next.js, App Router': next.paymentWebhook as Make,
  'Next.js, Pages Router': pages.paymentWebhookApi as Make,
  'AWS Lambda': lambda.paymentWebhook as Make,
};
const secret = 'a-value-of-the-portal-9f8e7d';

it.each(
  Object.entries({ node, express, fastify, koa, hono, fetchHost, next, pages, nest, lambda }),
)('%s exports the WebhookError that its handlers throw', (_name, adapter) => {
  expect(adapter.WebhookError).toBe(WebhookError);
});

it.each(Object.entries(untyped))(
  '%s refuses a missing secret and a bare prefix at startup, except in a build of Next.js',
  { tags: ['B01', 'N18'] },
  (name, make) => {
    for (const value of [undefined, 'whsec_']) {
      const create = (): unknown => make({ secret: value, logger: SILENT }, handler);
      if (name.startsWith('Next')) expect(create).not.toThrow();
      else expect(create).toThrow(/^secret is (missing|only the prefix)/);
    }
  },
);

it.each(Object.entries({ ...untyped, Fastify: fastify.paymentWebhook as Make }))(
  '%s refuses missing options',
  (_name, make) => {
    for (const options of [undefined, null])
      expect(() => make(options, handler)).toThrow(ConfigurationError);
  },
);

it.each(
  Object.entries({
    Express: express.paymentGate,
    Koa: koa.paymentGate,
    Hono: hono.paymentGate,
    NestJS: nest.paymentGate,
  }),
)(
  'the gate of %s refuses a bare prefix, a placeholder and options of handlers',
  { tags: ['B02', 'B04', 'N18'] },
  (_name, gate) => {
    const make = gate as (options: object) => unknown;
    for (const value of ['', 'whsec_', 'your-webhook-secret'])
      expect(() => make({ secret: value })).toThrow(/^secret is /);
    expect(() => make({ secret, handlerTimeout: 1 })).toThrow(
      /^handlerTimeout is an unknown option/,
    );
  },
);
