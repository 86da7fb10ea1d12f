/** Mistakes of set-up, which every adapter refuses where it is made. */
import 'reflect-metadata';
import { ConfigurationError, memoryStore } from '@paylink/core';
import * as express from '@paylink/express';
import * as fastify from '@paylink/fastify';
import * as fetchHost from '@paylink/fetch';
import * as koa from '@paylink/koa';
import * as lambda from '@paylink/lambda';
import { paymentWebhookGuard } from '@paylink/nest';
import * as next from '@paylink/next';
import * as pages from '@paylink/next/pages';
import * as node from '@paylink/node';
import { paymentWebhook as honoWebhook } from '@paylink/hono';
import { createClient } from '@paylink/client';
import { signedDelivery } from '@paylink/testing';
import { describe, expect, it } from 'vitest';

const handler = (): undefined => undefined;
type Options = Parameters<typeof node.paymentWebhook>[0];
const handling: Readonly<Record<string, (options: Options) => unknown>> = {
  'node:http': (options) => node.paymentWebhook(options, handler),
  Express: (options) => express.paymentWebhook(options as never, handler),
  Fastify: (options) => fastify.paymentWebhook({ url: '/', ...options } as never, handler),
  Koa: (options) => koa.paymentWebhook(options as never, handler),
  Fetch: (options) => fetchHost.paymentWebhook(options as never, handler),
  'Next.js, App Router': (options) => next.paymentWebhook(options as never, handler),
  'Next.js, Pages Router': (options) => pages.paymentWebhookApi(options as never, handler),
  'AWS Lambda': (options) => lambda.paymentWebhook(options as never, handler),
};

type Make = (options: unknown, handlers: unknown) => unknown;
/** As plain JavaScript calls them. */
const untyped: Readonly<Record<string, Make>> = {
  'node:http': node.paymentWebhook as Make,
  Express: express.paymentWebhook as Make,
  Fastify: (options, handlers) => (fastify.paymentWebhook as Make)({ url: '/', ...(options as object) }, handlers),
  Koa: koa.paymentWebhook as Make,
  Hono: honoWebhook as Make,
  Fetch: fetchHost.paymentWebhook as Make,
  'Next.js, App Router': next.paymentWebhook as Make,
  'Next.js, Pages Router': pages.paymentWebhookApi as Make,
  'AWS Lambda': lambda.paymentWebhook as Make,
};
const secret = 'a-value-of-the-portal-9f8e7d';

describe.each(Object.entries(untyped))('%s in plain JavaScript', (name, make) => {
  it('asks whether payment.succeeded was meant, and lists the kinds', () => {
    expect(() => make({ secret }, { 'payment.success': handler })).toThrow(
      /^handlers\['payment\.success'\] is for no configured kind: did you mean 'payment\.succeeded'\? Configured kinds: payment\.succeeded;/,
    );
  });

  it('says that handlers are the second argument', () => {
    expect(() => make({ secret, handlers: { 'payment.succeeded': handler } }, undefined)).toThrow(
      /^handlers is the second argument, not an option: paymentWebhook\(\{ secret \}, handlers\)/,
    );
  });

  it('names the usual variable of a missing secret, where the build is not asked', () => {
    const create = (): unknown => make({ secret: undefined }, handler);
    if (name.startsWith('Next')) expect(create).not.toThrow();
    else expect(create).toThrow(/^secret is missing: is WEBHOOK_SECRET set\?/);
  });

  it.each([
    ...[null, 5, [], new Map(), 'payment.refunded'].map((events) => ['events', events] as const),
    ...[null, 'x-signature', { signature: null }, { event: 42 }].map((headers) => ['headers', headers] as const),
    ...[null, {}, { warn: handler }].map((logger) => ['logger', logger] as const),
  ])('refuses as %s: %j', (option, value) => {
    expect(() => make({ secret, [option]: value }, handler)).toThrow(new RegExp(`^${option} must `));
  });

  it('takes `confirm` as a function, which is not called before the first delivery', () => {
    const nothing = (): ReturnType<typeof createClient> => createClient({ baseUrl: undefined, apiKey: undefined });
    expect(nothing).toThrow(/^baseUrl is missing/);
    expect(() => make({ secret, confirm: nothing }, handler)).not.toThrow();
  });
});

it.each(Object.entries({ ...untyped, Fastify: fastify.paymentWebhook as Make }))('%s refuses nothing as options', (_name, make) => {
  for (const options of [undefined, null]) expect(() => make(options, handler)).toThrow(ConfigurationError);
});

it.each([null, 'console', {}])('node:http refuses as onError: %j', (onError) => {
  expect(() => (node.paymentWebhook as Make)({ secret, onError }, handler)).toThrow(/^onError must be a function/);
});

describe.each(Object.entries(handling))('%s', (_name, create) => {
  it('refuses a secret by function with a store, until it is said whose order numbers these are (N05)', () => {
    const options = { secret: () => 'a-secret-of-the-portal', idempotency: memoryStore() };
    expect(() => create(options)).toThrow(/^tenant is missing.*`tenant: false`/);
    expect(() => create({ ...options, tenant: false })).not.toThrow();
  });
});

// Next.js imports routes where it builds, without the server's secrets: there the first request is refused instead.
const atOnce = Object.entries(handling).filter(([name]) => !name.startsWith('Next'));

it.each(atOnce)('%s refuses a bare prefix and a placeholder as a secret (N18)', (_name, create) => {
  for (const secret of ['whsec_', 'whsk_', 'v1,', 'base64:', 'hex:', 'your-webhook-secret']) {
    expect(() => create({ secret })).toThrow(/^secret is (only the prefix of a secret|a placeholder)/);
  }
});

it('a NestJS guard refuses a bare prefix and a placeholder as a secret (N18)', () => {
  for (const secret of ['whsec_', 'your-webhook-secret']) expect(() => paymentWebhookGuard({ secret })).toThrow(/^secret is /);
});

it('Next.js refuses every request under a placeholder as a secret, and none under it is genuine (N18)', async () => {
  const POST = next.paymentWebhook({ secret: 'your-webhook-secret', logger: { warn: handler, error: handler } }, handler);
  const response = await POST(signedDelivery({ secret: 'your-webhook-secret' }).toRequest('http://localhost/'));
  expect([response.status, await response.text()]).toEqual([500, '{"error":"misconfigured"}']);
});
