import { execFileSync, execSync } from 'node:child_process';
import {
  appendFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it, onTestFinished } from 'vitest';
import { newFolder, paylink, SECRET, start, words } from './paylink.js';
import { bodyOf, openShop, serve, serveSelfSigned, signatureOf as sign } from './servers.js';

const BODY = '{"reference":"order-42","note":"private words"}';

function deliver(url: string, body: string, signature: string): Promise<Response> {
  const headers = {
    'X-Service-Event': 'payment.succeeded',
    'X-Service-Signature': signature,
    'Content-Type': 'application/json',
  };
  return fetch(url, { method: 'POST', headers, body });
}

async function listen(
  forwardTo: string,
  env: Readonly<Record<string, string>> = { WEBHOOK_SECRET: SECRET },
) {
  const folder = newFolder();
  const running = start(['listen', '--forward-to', forwardTo, '--port', '0'], env, folder);
  const [, url = ''] = await running.until(/Listening at (\S+),/);
  await running.until(/Ctrl-C stops it\.\n/);
  const recorded = (): string[] =>
    readdirSync(join(folder, '.paylink/deliveries')).filter((name) => name.endsWith('.body'));
  return { running, url, folder, recorded };
}

describe('paylink listen', () => {
  it('answers 503 if the server switches protocols, and forwards the next delivery', async () => {
    let isFirst = true;
    const server = createServer((req, res) => {
      if (!isFirst) return void res.writeHead(200).end();
      isFirst = false;
      req.socket.end(
        'HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n',
      );
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const { url, running } = await listen(origin);
    expect((await deliver(url, BODY, sign(BODY))).status).toBe(503);
    await running.until(/the server answered 101 \(Switching Protocols\)/);
    expect((await deliver(url, BODY, sign(BODY))).status).toBe(200);
  });

  it('ends at Ctrl-C although the server does not answer', async () => {
    let isAsked!: () => void;
    const asked = new Promise<void>((resolve) => (isAsked = resolve));
    const { url, running } = await listen(await serve(() => isAsked()));
    const delivering = deliver(url, BODY, sign(BODY)).catch(() => undefined);
    await asked;
    const started = performance.now();
    running.child.kill('SIGINT');
    expect(await running.result()).toMatchObject({ code: 0, stderr: '' });
    expect(performance.now() - started).toBeLessThan(10_000);
    await delivering;
  });

  it('forwards a delivery byte for byte, returns the answer, and records the delivery for the owner only', async () => {
    const shop = await openShop();
    const { url, running, folder } = await listen(shop.url);
    const answer = await deliver(url, BODY, sign(BODY));
    expect([answer.status, await answer.json()]).toEqual([200, { received: true }]);
    expect(shop.credited).toEqual(['order-42']);
    const line = /payment\.succeeded \(47 bytes\) → 200 {2}(\.paylink\/deliveries\/\S+)\.body\n/;
    const [, path = ''] = await running.until(line);
    const file = join(folder, path);
    for (const extension of ['.body', '.json'])
      expect(statSync(`${file}${extension}`).mode & 0o777).toBe(0o600);
    expect(readFileSync(join(folder, '.paylink/deliveries/.gitignore'), 'utf8')).toBe('*\n');
    expect(running.stdout()).not.toMatch(/private words/);
    expect(running.stdout()).not.toContain(sign(BODY));

    running.child.kill('SIGINT');
    expect(await running.result()).toMatchObject({ code: 0, stderr: '' });
    const { headers } = JSON.parse(readFileSync(`${file}.json`, 'utf8')) as {
      readonly headers: readonly (readonly [string, string])[];
    };
    const [, signature] = headers.find(([name]) => /signature/i.test(name))!;
    const env = { WEBHOOK_SECRET: SECRET };
    const args = words`--body ${file}.body --signature ${signature}`;
    expect((await paylink(['diagnose', ...args], { env })).stdout).toMatch(/^matches/);
    const again = await paylink(words`trigger --to ${shop.url} --body ${file}.body`, { env });
    expect(again.code).toBe(0);
    expect(shop.credited).toEqual(['order-42', 'order-42']);
  });

  it('explains a mismatched signature and lets the server refuse the delivery', async () => {
    const shop = await openShop();
    const { url, running } = await listen(shop.url);
    expect((await deliver(url, JSON.stringify(JSON.parse(BODY), null, 2), sign(BODY))).status).toBe(
      401,
    );
    await running.until(/→ 401.*\n +signature: A JSON parser/);
    expect((await fetch(url, { method: 'POST', body: BODY })).status).toBe(401);
    await running.until(/signature: the delivery has no X-Service-Signature header/);
    expect(shop.credited).toEqual([]);
  });

  it('forwards repeated headers and binary bytes, but not connection headers', async () => {
    const seen: { req: IncomingMessage; body: Buffer }[] = [];
    const target = await serve(async (req, res) => {
      seen.push({ req, body: await bodyOf(req) });
      res.end();
    });
    const { url, running } = await listen(`${target}/hook`);
    const body = Buffer.from([0x1f, 0x8b, 0x00, 0xff]);
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname);
    onTestFinished(() => void socket.destroy());
    socket.write(
      'POST / HTTP/1.1\r\nHost: shop.example\r\nX-Service-Signature: a\r\nX-Service-Signature: b\r\nKeep-Alive: 5\r\nContent-Length: 4\r\n\r\n',
    );
    socket.write(body);
    await running.until(/more than one X-Service-Signature/);
    expect(seen[0]!.body).toEqual(body);
    expect(seen[0]!.req.headers['host']).toBe(new URL(target).host);
    expect(seen[0]!.req.headers).not.toHaveProperty('keep-alive');
    expect(seen[0]!.req.rawHeaders.filter((name) => name === 'X-Service-Signature')).toHaveLength(
      2,
    );
  });

  it('returns the headers of the answer unchanged, except connection headers', async () => {
    const packed = gzipSync('{"received":true}');
    const target = await serve((req, res) => {
      req.resume().on('end', () => {
        const headers = {
          'Retry-After': '7',
          'Content-Encoding': 'gzip',
          'Set-Cookie': ['a=1', 'b=2'],
          'Keep-Alive': 'timeout=9',
        };
        res.writeHead(503, headers).end(packed);
      });
    });
    const { url } = await listen(target);
    const answer = await deliver(url, BODY, sign(BODY));
    expect([answer.status, await answer.json()]).toEqual([503, { received: true }]);
    expect(answer.headers.get('retry-after')).toBe('7');
    expect(answer.headers.getSetCookie()).toEqual(['a=1', 'b=2']);
    expect(answer.headers.get('keep-alive')).not.toBe('timeout=9');
  });

  it('answers 413 to an oversized body, and neither records nor forwards it', async () => {
    const shop = await openShop();
    const { url, recorded } = await listen(shop.url);
    const body = 'a'.repeat(8_000_000);
    expect((await deliver(url, body, sign(body))).status).toBe(413);
    expect(recorded()).toEqual([]);
    expect((await deliver(url, BODY, sign(BODY))).status).toBe(200);
  });

  it('records the delivery and asks for a retry while the server is down', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    await new Promise((resolve) => server.close(resolve));
    const { url, running, recorded } = await listen(`http://127.0.0.1:${port}/`);
    const answer = await deliver(url, BODY, sign(BODY));
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '60']);
    await running.until(
      new RegExp(`→ nothing listens at 127\\.0\\.0\\.1:${port}: is the server running`),
    );
    expect(recorded()).toHaveLength(1);
  });

  it('names NODE_EXTRA_CA_CERTS if the certificate of the webhook is not trusted', async () => {
    const { url, running } = await listen(await serveSelfSigned());
    expect((await deliver(url, BODY, sign(BODY))).status).toBe(503);
    await running.until(/→ its certificate is not trusted \(\w+\): .*NODE_EXTRA_CA_CERTS/);
  });

  it('warns of a folder that git does not ignore, until the printed command ran', async () => {
    const cwd = newFolder();
    execFileSync('git', ['init', '-q'], { cwd });
    const warning = async (): Promise<string> => {
      const running = start(words`listen --forward-to http://127.0.0.1:9 --port 0`, {}, cwd);
      await running.until(/Ctrl-C stops it\.\n/);
      running.child.kill('SIGINT');
      return (await running.result()).stderr;
    };
    expect(await warning()).toBe('');
    mkdirSync(join(cwd, '.paylink/deliveries'), { recursive: true });
    writeFileSync(join(cwd, '.paylink/deliveries/.gitignore'), '');
    appendFileSync(join(cwd, '.paylink/deliveries/kept.body'), '{}');
    execSync('git add .paylink', { cwd });
    const printed = await warning();
    expect(printed).toMatch(
      /^git does not ignore \.paylink\/deliveries, which holds secrets: git rm/,
    );
    execSync(printed.slice(printed.indexOf(': ') + 2), { cwd });
    expect(await warning()).toBe('');
  });
});
