/**
 * Audits correct and faulty receivers on frameworks: the report must be true, and must not advise
 * steps that are already taken.
 */
import 'reflect-metadata';
import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  BadRequestException,
  Controller,
  HttpCode,
  Post,
  Req,
  UnauthorizedException,
} from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { auditReceiver } from '../../packages/cli/src/audit/audit-receiver.js';
import type { AuditReport } from '../../packages/cli/src/audit/report.js';
import Fastify from 'fastify';
import { describe, expect, it, onTestFinished } from 'vitest';
import { receiver, SECRET } from './hand-written.js';

const secret = SECRET;

function named({ causes }: AuditReport): string[] {
  return causes.map(
    ({ id, severity, evidence, fix }) => `${severity} ${id}: ${evidence.join('; ')} – ${fix}`,
  );
}

/** A hand-written Fastify webhook that verifies the raw bytes, with a chosen handler. */
async function startFastify(handle: (reference: string) => void): Promise<string> {
  const app = Fastify({ bodyLimit: 65_536, requestTimeout: 1_500 });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  app.post('/hook', async (request, reply) => {
    const raw = (request.body as Buffer | undefined) ?? Buffer.alloc(0);
    const { 'x-service-signature': signature = '', 'x-service-event': kind = '' } =
      request.headers as Record<string, string>;
    if (request.headers['content-encoding'] !== undefined) return reply.code(415).send();
    const right = createHmac('sha256', secret).update(raw).digest('hex');
    if (
      !/^[0-9a-f]{64}$/.test(signature) ||
      !timingSafeEqual(Buffer.from(signature), Buffer.from(right))
    ) {
      return reply.code(401).send();
    }
    if (!/^[a-z0-9._-]{1,128}$/.test(kind)) return reply.code(400).send();
    let reference: unknown;
    try {
      const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(raw);
      ({ reference } = JSON.parse(text) as { reference: unknown });
    } catch {
      return reply.code(400).send();
    }
    if (typeof reference !== 'string' || reference.trim() === '') return reply.code(400).send();
    if (kind === 'payment.succeeded') handle(reference);
    return reply.send({ received: true });
  });
  onTestFinished(() => app.close());
  await app.listen({ port: 0, host: '127.0.0.1' });
  return `http://127.0.0.1:${(app.server.address() as AddressInfo).port}/hook`;
}

describe('an audit of Fastify', () => {
  it('recognises a 500 for unknown orders, and gives no advice for another framework', async () => {
    const url = await startFastify((reference) => {
      if (reference !== 'paylink-audit') throw new Error(`no order ${reference}`);
    });
    const report = await auditReceiver({ url, secret, bodyLimit: 65_536, timeout: 4_000 });
    expect(report.framework).toBe('Fastify');
    expect(
      named(report).filter((line) => /refuses_genuine|fails_genuine|rawBody|NestJS/.test(line)),
    ).toEqual([]);
    expect(report.notes.map(({ note }) => note)).toContainEqual(
      expect.stringMatching(
        /answered 500 to a reference .* as to every unknown order\. A 503 would be clearer/,
      ),
    );
  });
});

describe('an audit of NestJS with rawBody: true', () => {
  it('gives no advice that the app already follows', async () => {
    const url = await startNest();
    const report = await auditReceiver({ url, secret, timeout: 4_000 });
    expect(report.framework).toBe('NestJS');
    const ids = report.causes.filter(({ severity }) => severity !== 'low').map(({ id }) => id);
    expect(ids.sort(), named(report).join('\n')).toEqual([
      'content_type',
      // Nest's parser inflates before it keeps the bytes, and the guard looks at no encoding.
      'inflates',
      'no_deadline',
      'parses_first',
      'quotes_body',
    ]);
    expect(
      named(report).filter((line) => /rawBody|raw bytes as received|before any parser/.test(line)),
    ).toEqual([]);
  });
});

/** A hand-written guard over `request.rawBody`, as in NestJS's documentation. */
async function startNest(): Promise<string> {
  @Controller()
  class Webhooks {
    @Post('hook')
    @HttpCode(200)
    receive(@Req() request: { rawBody?: Buffer; headers: Record<string, string | undefined> }) {
      const raw = request.rawBody ?? Buffer.alloc(0);
      const { 'x-service-signature': signature = '', 'x-service-event': kind = '' } =
        request.headers;
      const right = createHmac('sha256', secret).update(raw).digest('hex');
      if (
        !/^[0-9a-f]{64}$/.test(signature) ||
        !timingSafeEqual(Buffer.from(signature), Buffer.from(right))
      ) {
        throw new UnauthorizedException();
      }
      if (!/^[a-z0-9._-]{1,128}$/.test(kind)) throw new BadRequestException();
      const { reference } = (JSON.parse(raw.toString()) ?? {}) as { reference?: unknown };
      if (typeof reference !== 'string' || reference.trim() === '') throw new BadRequestException();
      return { received: true };
    }
  }
  const settings = { rawBody: true, logger: false } as const;
  const module = { module: Webhooks, controllers: [Webhooks] };
  const app = await NestFactory.create(module, new ExpressAdapter(), settings);
  onTestFinished(() => app.close());
  await app.listen(0, '127.0.0.1');
  return `${await app.getUrl()}/hook`;
}

describe('a crash of the server', () => {
  const CRASHING = 'a pretty-printed body that is signed as such';

  /**
   * Crashes with all its connections at one delivery. Other answers are slow, so that several are
   * pending.
   */
  async function startCrashing(restartsAfter: number | undefined): Promise<string> {
    let server: Server;
    const start = (port: number): Promise<void> =>
      new Promise((resolve) =>
        (server = createServer(listener)).listen(port, '127.0.0.1', resolve),
      );
    const sound = receiver();
    const listener: RequestListener = (req, res) => {
      const { port } = server.address() as AddressInfo;
      req.on('data', (chunk: Buffer) => {
        if (!chunk.toString().includes('\n  "amount": 1')) return;
        server.close();
        server.closeAllConnections();
        if (restartsAfter !== undefined) setTimeout(() => void start(port), restartsAfter);
      });
      sound(req, res);
    };
    await start(0);
    onTestFinished(() => {
      server.close();
      server.closeAllConnections();
    });
    return `http://127.0.0.1:${(server!.address() as AddressInfo).port}/hook`;
  }

  it('is attributed to its delivery if the server restarts', async () => {
    const url = await startCrashing(1_500);
    const { stopped, findings } = await auditReceiver({ url, secret, timeout: 2_000 });
    expect(stopped).toMatchObject({ reason: 'stopped_serving' });
    const { what } = findings.find(({ cause }) => cause === 'stops_serving')!;
    expect(what).toBe(CRASHING);
  });

  it('is attributed to all running deliveries if the server stays down', async () => {
    const url = await startCrashing(undefined);
    const { findings } = await auditReceiver({ url, secret, timeout: 2_000 });
    const { what, title } = findings.find(({ cause }) => cause === 'stops_serving')!;
    expect(what).toContain(CRASHING);
    expect(title).toContain('one of these was the cause');
    // Nothing else is a finding, because the server was gone.
    expect(findings.map(({ cause }) => cause)).toEqual(['stops_serving']);
  });
});
