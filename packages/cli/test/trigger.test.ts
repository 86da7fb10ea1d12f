import { writeFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { newFolder, paylink, SECRET } from './paylink.js';
import { openShop, serve } from './servers.js';

const env = { WEBHOOK_SECRET: SECRET };

// Line breaks are the program's own.
const ACTED_ON = /(?!\n)[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;

/** A received request, byte for byte. */
interface Received {
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
}

async function record(
  reply: { status?: number; headers?: Record<string, string>; body?: string } = {},
) {
  const received: Received[] = [];
  const url = await serve((req, res) => {
    const chunks: Buffer[] = [];
    req.on('data', (chunk: Buffer) => chunks.push(chunk));
    req.on('end', () => {
      received.push({ headers: req.headers, body: Buffer.concat(chunks) });
      res.writeHead(reply.status ?? 200, reply.headers).end(reply.body ?? '');
    });
  });
  return { url, received };
}

describe('paylink trigger', () => {
  it('sends a notification that a receiver accepts', async () => {
    const shop = await openShop();
    const result = await paylink(
      ['trigger', 'payment.succeeded', '--to', shop.url, '--reference', 'order-42'],
      { env },
    );
    expect(result).toMatchObject({ code: 0, stderr: '' });
    expect(shop.credited).toEqual(['order-42']);
    expect(result.stdout).toContain(
      `POST ${shop.url}\npayment.succeeded for order-42, 24 bytes, signed\n`,
    );
    expect(result.stdout).toMatch(
      /\n {2}1 {2}200 {2}\d+ ms {2}\{"received":true\}\n\n1 of 1 accepted \(2xx\)\n$/,
    );
  });

  it('sends --times notifications, in turn or with --concurrent', async () => {
    const shop = await openShop();
    const args = ['trigger', '--to', shop.url, '--reference', 'order-42', '--times', '5', '--json'];
    for (const extra of [[], ['--concurrent']]) {
      const { code, stdout } = await paylink([...args, ...extra], { env });
      expect(code).toBe(0);
      expect(JSON.parse(stdout)).toMatchObject({
        ok: true,
        accepted: 5,
        event: 'payment.succeeded',
        reference: 'order-42',
      });
    }
    expect(shop.credited).toHaveLength(10);
  });

  it('sends all notifications at the same time with --concurrent', async () => {
    const waiting: (() => void)[] = [];
    // Answers only after all have come.
    const url = await serve((_req, res) => {
      waiting.push(() => res.end());
      if (waiting.length === 8) waiting.forEach((answer) => answer());
    });
    const result = await paylink(
      ['trigger', '--to', url, '--reference', 'a', '--times', '8', '--concurrent'],
      { env },
    );
    expect(result).toMatchObject({ code: 0 });
  });

  it('exits with 1 and suggests a check if the receiver refuses the notification', async () => {
    const shop = await openShop();
    const result = await paylink([
      'trigger',
      '--to',
      shop.url,
      '--reference',
      'order-42',
      '--secret',
      'another-secret-of-a-portal',
    ]);
    expect(result.code).toBe(1);
    expect(result.stdout).toContain('0 of 1 accepted');
    expect(result.stdout).toContain('Compare the secrets on both sides');
    expect(result.stdout).not.toContain('another-secret-of-a-portal');
    expect(shop.credited).toEqual([]);
  });

  it.each([
    [301, /a redirect to http:\/\/127\.0\.0\.1:1\/: the service does not follow redirects/],
    [404, /path has no route/],
    [405, /not for POST/],
    [415, /content type/],
    [422, /refused it/],
    [503, /read its log/],
  ])('explains a %i', async (status, advice) => {
    const { url } = await record({ status, headers: { location: 'http://127.0.0.1:1/' } });
    const result = await paylink(['trigger', '--to', url, '--reference', 'a'], { env });
    expect(result.code).toBe(1);
    expect(result.stdout).toMatch(advice);
  });

  it('does not follow a redirect', async () => {
    const elsewhere = await record();
    const { url } = await record({ status: 307, headers: { location: elsewhere.url } });
    expect((await paylink(['trigger', '--to', url, '--reference', 'a'], { env })).code).toBe(1);
    expect(elsewhere.received).toEqual([]);
  });

  it('exits with 1 if the server does not listen, hangs or closes the connection', async () => {
    const refused = await paylink(['trigger', '--to', 'http://127.0.0.1:1/', '--reference', 'a'], {
      env,
    });
    expect(refused.code).toBe(1);
    const closed = await serve(() => undefined);
    const hung = await paylink(
      ['trigger', '--to', closed, '--reference', 'a', '--timeout', '0.2'],
      { env },
    );
    expect(hung.code).toBe(1);
    expect(hung.stdout).toContain('no answer in time');
    const dropped = await serve((req) => req.socket.destroy());
    const broken = await paylink(['trigger', '--to', dropped, '--reference', 'a'], { env });
    expect(broken).toMatchObject({ code: 1 });
    expect(broken.stdout).toContain('closed the connection without an answer');
  });

  it('prints an answer whose body never ends', async () => {
    const url = await serve((_req, res) => void res.writeHead(200).write('begun'));
    const result = await paylink(['trigger', '--to', url, '--reference', 'a', '--timeout', '0.5'], {
      env,
    });
    expect(result).toMatchObject({ code: 0 });
    expect(result.stdout).toContain('begun');
  });

  it('sends the exact bytes of a file or of stdin, also if they are not text', async () => {
    const { url, received } = await record();
    const bytes = Buffer.from([0x7b, 0x20, 0x0d, 0x0a, 0xff, 0x00, 0x7d, 0x0a]);
    const file = join(newFolder(), 'body');
    await writeFile(file, bytes);
    expect((await paylink(['trigger', '--to', url, '--body', file], { env })).code).toBe(0);
    expect(
      (await paylink(['trigger', '--to', url, '--body', '-'], { env, stdin: bytes })).code,
    ).toBe(0);
    expect(received.map(({ body }) => body)).toEqual([bytes, bytes]);
  });

  it('adds --field and --header without replacing the signature', async () => {
    const { url, received } = await record();
    const fields = ['--field', 'amount=15000', '--field', 'note=a=b', '--field', 'live=false'];
    const headers = ['--header', 'X-Tunnel: open:sesame', '--header', 'x-service-signature: 0'];
    const result = await paylink(
      ['trigger', 'payment.tested', '--to', url, '--reference', 'a', ...fields, ...headers],
      { env },
    );
    expect(result.code).toBe(0);
    const [{ body, headers: sent }] = received as [Received];
    expect(JSON.parse(body.toString())).toEqual({
      reference: 'a',
      amount: 15000,
      note: 'a=b',
      live: false,
    });
    expect(sent).toMatchObject({ 'x-service-event': 'payment.tested', 'x-tunnel': 'open:sesame' });
    expect(sent['x-service-signature']).toMatch(/^[0-9a-f]{64}$/);
  });

  it.each([
    ['--to is missing', ['--reference', 'a'], /no --to/],
    [
      '--to has no scheme',
      ['--to', 'localhost:3000', '--reference', 'a'],
      /--to must be an http or https URL/,
    ],
    [
      '--to has another scheme',
      ['--to', 'file:///etc/passwd', '--reference', 'a'],
      /--to must be an http or https URL/,
    ],
    [
      '--to contains a password',
      ['--to', 'http://u:p4ssw0rd@localhost/', '--reference', 'a'],
      /must not contain a user or password/,
    ],
    ['--reference is missing', ['--to', 'http://localhost:1/'], /no --reference/],
    [
      '--reference and --body are both given',
      ['--to', 'http://localhost:1/', '--reference', 'a', '--body', '-'],
      /--body is the whole body/,
    ],
    [
      'the file of --body does not exist',
      ['--to', 'http://localhost:1/', '--body', '/no/such/file'],
      /--body: .*ENOENT/,
    ],
    [
      '--field has no value',
      ['--to', 'http://localhost:1/', '--reference', 'a', '--field', 'amount'],
      /name=value/,
    ],
    [
      '--header has no colon',
      ['--to', 'http://localhost:1/', '--reference', 'a', '--header', 'amount'],
      /Name: value/,
    ],
    [
      'the event kind does not fit into a header',
      ['pay\nment', '--to', 'http://localhost:1/', '--reference', 'a'],
      /printable ASCII/,
    ],
    ['--times is 0', ['--times', '0'], /from 1 to 1000/],
    ['--times has a fraction', ['--times', '1.5'], /from 1 to 1000/],
    ['--timeout is 0', ['--timeout', '0'], /seconds/],
    [
      'there are too many arguments',
      ['payment.succeeded', 'http://localhost:1/'],
      /too many arguments/,
    ],
  ])('exits with 2 and sends nothing if %s', async (_, args, message) => {
    const { code, stdout, stderr } = await paylink(['trigger', ...args], { env });
    expect(code).toBe(2);
    expect(stdout).toBe('');
    expect(stderr).toMatch(message);
    expect(stderr).not.toMatch(/p4ssw0rd|\n {4}at /);
  });

  it('prints foreign text without control characters', async () => {
    const evil = '\u001b[2J\u001b]0;title\u0007\u009b31m\u202e\u2066paid\u2028\r\nFake: line';
    const { url } = await record({ status: 400, body: `${evil}</html>` });
    const plain = await paylink(
      ['trigger', '--to', `${url}/?token=t0ken-of-a-tunnel`, '--reference', evil],
      { env },
    );
    expect(plain.code).toBe(1);
    // Only printable characters and the program's own line breaks.
    expect(plain.stdout).not.toMatch(ACTED_ON);
    expect(plain.stdout).toContain(
      String.raw`\x1b[2J\x1b]0;title\x07\x9b31m\u202e\u2066paid\u2028\x0d\x0aFake: line`,
    );
    expect(plain.stdout).not.toMatch(/^Fake/m);
    expect(plain.stdout).not.toContain('t0ken');
    const json = await paylink(['trigger', '--to', url, '--reference', evil, '--json'], { env });
    expect(json.stdout).not.toMatch(ACTED_ON);
    expect(JSON.parse(json.stdout)).toMatchObject({
      reference: evil,
      deliveries: [{ body: `${evil}</html>` }],
    });
  });

  it('prints neither the secret nor the signature, even if the server echoes them', async () => {
    const url = await serve((req, res) =>
      res.end(
        `${SECRET} ${String(req.headers['x-service-signature'])} ${String(req.headers['x-token'])}`,
      ),
    );
    const args = [
      'trigger',
      '--to',
      url,
      '--reference',
      'a',
      '--header',
      'X-Token: opens-the-tunnel',
    ];
    for (const extra of [[], ['--json']]) {
      const { stdout } = await paylink([...args, ...extra], { env });
      expect(stdout).toContain('[hidden] [hidden] [hidden]');
      expect(stdout).not.toMatch(/[0-9a-f]{64}|opens-the-tunnel/);
    }
  });

  it('prints neither the query of the URL nor the credentials of a header', async () => {
    const url = await serve((req, res) => {
      const { searchParams } = new URL(req.url!, 'http://localhost');
      const [, token] = req.headers.authorization!.split(' ');
      res.end([req.url, searchParams.get('token'), token, req.headers.authorization].join(' '));
    });
    const args = [
      'trigger',
      '--reference',
      'a',
      '--header',
      'Authorization: Bearer bearer-of-a-tunnel',
    ];
    for (const extra of [[], ['--json']]) {
      const { stdout } = await paylink(
        [...args, '--to', `${url}/?token=t0ken%2Fof+a+tunnel&v=1`, ...extra],
        { env },
      );
      expect(stdout).toContain('/?[hidden] [hidden] [hidden] [hidden]');
      expect(stdout).not.toMatch(/t0ken|bearer-of/);
    }
  });

  it('hides a secret also in its JSON-quoted form', async () => {
    const secret = 'says "quoted\\" twice';
    const url = await serve((_req, res) => res.end(JSON.stringify({ secret })));
    const { stdout } = await paylink(['trigger', '--to', url, '--reference', 'a'], {
      env: { WEBHOOK_SECRET: secret },
    });
    expect(stdout).toContain('{"secret":"[hidden]"}');
  });

  it.each<[string, number, Record<string, string>, string, RegExp]>([
    [
      'an HTML page',
      200,
      { 'content-type': 'text/html' },
      '<html>shop</html>',
      /something else answered \(200, text\/html\): .* a catch-all/,
    ],
    [
      'a redirect to a login',
      302,
      { location: '/login?next=secret' },
      '',
      /a redirect to http:\S+\/login\?…: a login stands in front/,
    ],
    [
      'a rate limiter',
      429,
      { 'retry-after': '9' },
      '',
      /A rate limiter in front of the webhook answered/,
    ],
    [
      'a firewall',
      403,
      { server: 'waf' },
      'no',
      /something else answered \(403, no content-type, server: waf\)/,
    ],
    [
      'a compressed body',
      415,
      {},
      '{"error":"unsupported_encoding"}',
      /The body arrived compressed/,
    ],
    ['unavailable orders', 503, {}, '{"error":"orders_unavailable"}', /check the database/],
  ])('recognises %s by its reply', async (_, status, headers, body, message) => {
    const { url } = await record({ status, headers, body });
    const { stdout } = await paylink(['trigger', '--to', url, '--reference', 'a'], { env });
    expect(stdout).toMatch(message);
    expect(stdout).not.toContain('next=secret');
  });

  it('sends *.localhost to this machine, with the name in the Host header', async () => {
    const { url, received } = await record();
    const named = url.replace('127.0.0.1', 'shop.localhost');
    const { code } = await paylink(['trigger', '--to', named, '--reference', 'a'], { env });
    expect([code, received[0]!.headers.host]).toEqual([0, new URL(named).host]);
    expect(JSON.parse(received[0]!.body.toString())).toEqual({ reference: 'a' });
  });

  it('prints only the beginning of a long reply', async () => {
    const { url } = await record({ status: 500, body: 'x'.repeat(100_000) });
    const { stdout } = await paylink(['trigger', '--to', url, '--reference', 'a'], { env });
    expect(stdout).toContain('x'.repeat(300) + '…');
    expect(stdout.length).toBeLessThan(1_000);
  });

  it('refuses an event kind that looks misspelt, unless --any-event is given', async () => {
    const shop = await openShop();
    const send = (kind: string, ...more: string[]) =>
      paylink(['trigger', kind, '--to', shop.url, '--reference', 'a', ...more], { env });
    for (const kind of ['payment.sucseeded', 'payment.success', 'Payment.Succeeded']) {
      const refused = await send(kind);
      expect(refused).toMatchObject({ code: 2, stdout: '' });
      expect(refused.stderr).toMatch(/did you mean payment\.succeeded\?[^]*--any-event/);
    }
    expect((await send('payment.sucseeded', '--any-event')).code).toBe(0);
    expect((await send('payment.refunded')).code).toBe(0);
    expect(shop.credited).toEqual([]);
  });
});
