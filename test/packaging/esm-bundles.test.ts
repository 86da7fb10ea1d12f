/** ESM bundles of each adapter that reads bodies on Node, with the banner of the documents. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { signedDelivery, TEST_SECRET } from '@paylink/testing';
import { build } from 'esbuild';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { SOURCE } from '../../scripts/source.mjs';

const TESTS = fileURLToPath(new URL('..', import.meta.url));
const FAQ = readFileSync(new URL('../../docs/faq.md', import.meta.url), 'utf8');
const banner = /--banner:js="([^"]+)"/.exec(FAQ)![1]!;

const LISTEN = `(server) => server.listen(0, '127.0.0.1', () => console.log(server.address().port))`;
/** By package, or by entry point. */
const APPS: Readonly<Record<string, string>> = {
  node: `import http from 'node:http';
    listen(http.createServer(paymentWebhook(options, handler)));`,
  express: `import http from 'node:http'; import express from 'express';
    listen(http.createServer(express().post('/', paymentWebhook(options, handler))));`,
  koa: `import http from 'node:http'; import Koa from 'koa';
    listen(http.createServer(new Koa().use(paymentWebhook(options, handler)).callback()));`,
  fastify: `import fastify from 'fastify';
    const app = fastify(); app.register(paymentWebhook({ url: '/', ...options }, handler));
    await app.ready(); listen(app.server);`,
  hono: `import { createAdaptorServer } from '@hono/node-server'; import { Hono } from 'hono';
    const app = new Hono().post('/', paymentWebhook(options, handler));
    listen(createAdaptorServer({ fetch: app.fetch }));`,
  'next/pages': `import http from 'node:http';
    listen(http.createServer(paymentWebhookApi(options, handler)));`,
  nest: `import 'reflect-metadata'; import { NestFactory } from '@nestjs/core';
    const useFactory = () => ({ url: '/', ...options, handlers: handler });
    const app = await NestFactory.create(PaymentWebhookModule.forRootAsync({ useFactory }), {
      logger: false,
    });
    await app.init(); listen(app.getHttpServer());`,
};
const NAMES: Readonly<Record<string, string>> = {
  'next/pages': 'paymentWebhookApi',
  nest: 'PaymentWebhookModule',
};

mkdirSync(join(TESTS, '.cache'), { recursive: true });
const folder = mkdtempSync(join(TESTS, '.cache', 'esm-'));
afterAll(() => rmSync(folder, { recursive: true }));

async function bundle(host: string, js: string): Promise<string> {
  const outfile = join(folder, `${host.replace('/', '-')}${js === '' ? '' : '-banner'}.mjs`);
  const contents = `import { ${NAMES[host] ?? 'paymentWebhook'} } from '@paylink/${host}';
    const options = { secret: '${TEST_SECRET}' }; const handler = () => undefined;
    const listen = ${LISTEN}; ${APPS[host]!}`;
  const stdin = { contents, resolveDir: TESTS };
  const esm = { bundle: true, platform: 'node', format: 'esm' } as const;
  // The frameworks stay outside, so that the adapter alone needs the banner.
  const nest = ['@nestjs/common', '@nestjs/core', 'reflect-metadata'];
  const external = ['express', 'koa', 'fastify', 'hono', '@hono/node-server', ...nest];
  const conditions = [SOURCE];
  await build({ stdin, outfile, ...esm, conditions, external, banner: { js }, logLevel: 'error' });
  return outfile;
}

describe.each(Object.keys(APPS))('@paylink/%s in an ESM bundle of esbuild', (host) => {
  it('serves with the banner of the documents', async () => {
    const child = spawn(process.execPath, [await bundle(host, banner)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    onTestFinished(() => void child.kill());
    const [port] = (await once(createInterface(child.stdout), 'line')) as [string];
    expect((await signedDelivery().send(`http://127.0.0.1:${port}/`)).status).toBe(200);
  });

  it('throws without the banner an error that the documents name', async () => {
    const started = promisify(execFile)(process.execPath, [await bundle(host, '')]);
    const error = (await started.catch((each: unknown) => each)) as { readonly stderr: string };
    const [, thrown = ''] = /Error: (Dynamic require of) /.exec(error.stderr) ?? [];
    expect(thrown).not.toBe('');
    expect(FAQ).toContain(thrown);
  });

  it('has the banner in the README of its package', () => {
    const [folderOfHost] = host.split('/');
    const url = new URL(`../../packages/${folderOfHost}/README.md`, import.meta.url);
    expect(readFileSync(url, 'utf8')).toContain(banner.replace('\n', ' '));
  });
});
