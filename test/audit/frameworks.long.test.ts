/**
 * Audits correct and faulty receivers on frameworks: the report must be true, and must not advise
 * steps that are already taken.
 */
import 'reflect-metadata';
import { createServer, STATUS_CODES, type RequestListener, type Server } from 'node:http';
import type { IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Controller, HttpCode, HttpException, Post, Req } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { auditReceiver } from '../../packages/cli/src/audit/audit-receiver.js';
import Fastify from 'fastify';
import { describe, expect, it, onTestFinished } from 'vitest';
import { describeCauses, severeCauses } from './audits.js';
import { judge, receiver, SECRET, SOUND, type Habits } from './hand-written.js';

const secret = SECRET;

/** A Fastify webhook that verifies the raw bytes. */
async function startFastify(credit: Habits['credit']): Promise<string> {
  const app = Fastify({ bodyLimit: 65_536, requestTimeout: 1_500 });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  app.post('/hook', async ({ headers, body }, reply) => {
    if (headers['content-encoding'] !== undefined) return reply.code(415).send();
    const raw = (body as Buffer | undefined) ?? Buffer.alloc(0);
    const [status, text] = judge(raw, headers, { ...SOUND, credit });
    return reply.code(status).send(text);
  });
  onTestFinished(() => app.close());
  await app.listen({ port: 0, host: '127.0.0.1' });
  return `http://127.0.0.1:${(app.server.address() as AddressInfo).port}/hook`;
}

describe('an audit of Fastify', () => {
  it('recognises a 500 for unknown orders, and gives no advice for another framework', async () => {
    const url = await startFastify((reference) => {
      if (reference !== 'paylink-audit') throw new Error(`no order ${reference}`);
      return 200;
    });
    const report = await auditReceiver({ url, secret, bodyLimit: 65_536, timeout: 4_000 });
    expect(report.framework).toBe('Fastify');
    const causes = describeCauses(report).join('\n');
    expect(causes).not.toMatch(/refuses_genuine|fails_genuine|rawBody|NestJS/);
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
    const causes = describeCauses(report).join('\n');
    expect(severeCauses(report), causes).toEqual([
      'content_type',
      // Nest's parser inflates before it keeps the bytes, and the guard looks at no encoding.
      'inflates',
      'no_deadline',
      'parses_first',
      'quotes_body',
    ]);
    expect(causes).not.toMatch(/rawBody|raw bytes as received|before any parser/);
  });
});

/** A hand-written guard over `request.rawBody`, as in NestJS's documentation. */
async function startNest(): Promise<string> {
  @Controller()
  class Webhooks {
    @Post('hook')
    @HttpCode(200)
    receive(@Req() { rawBody, headers }: { rawBody?: Buffer; headers: IncomingHttpHeaders }) {
      const [status] = judge(rawBody ?? Buffer.alloc(0), headers, SOUND);
      if (status === 200) return { received: true };
      throw new HttpException({ message: STATUS_CODES[status], statusCode: status }, status);
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
