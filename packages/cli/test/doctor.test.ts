import type { RequestListener } from 'node:http';
import { paymentWebhook } from '@paylink/express';
import { createPayments, memoryOrders } from '@paylink/payments';
import { describe, expect, it } from 'vitest';
import { examine } from '../src/doctor/examine.js';
import { paylink, SECRET, words } from './paylink.js';
import { NOBODY, paylinkOn } from './shop/index.js';
import { bodyOf, openShop, serve, signatureOf } from './servers.js';

const env = { WEBHOOK_SECRET: SECRET };
const doctor = (url: string, ...args: string[]) =>
  paylink(['doctor', '--to', url, ...args], { env });

/** Checks a webhook in this process. Returns a line for each check. */
async function examined(url: string): Promise<string> {
  const checks = await examine({ to: new URL(url) }, SECRET, undefined);
  const verdict = { true: 'ok', false: 'FAILED', undefined: '–' };
  return checks.map(({ ok, name, message }) => `${verdict[`${ok}`]} ${name} ${message}\n`).join('');
}

/** A proxy that changes bodies. */
function openProxy(shop: string, change: (body: string) => string): Promise<string> {
  return serve(async (req, res) => {
    const body = change((await bodyOf(req)).toString());
    const passed = Object.entries(req.headers).filter(([name]) =>
      /^(x-ser|content-type)/.test(name),
    );
    const headers = Object.fromEntries(passed) as Record<string, string>;
    res.writeHead((await fetch(shop, { method: 'POST', headers, body })).status).end();
  });
}

/** A webhook with `payments.receive`, without an order. */
function openReceiver(): Promise<string> {
  const client = { getPayment: () => Promise.reject(new Error('not reached')) };
  const { orders } = memoryOrders();
  const logger = { warn: () => undefined, error: () => undefined };
  const payments = createPayments({ client, orders, logger });
  return serve(paymentWebhook({ secret: SECRET, logger }, payments.receive) as RequestListener);
}

/** A hand-written webhook with a chosen answer. */
function openHandWritten(
  answer: (isRight: boolean, event: string) => number,
  body = '',
): Promise<string> {
  return serve(async (req, res) => {
    const right = signatureOf(await bodyOf(req));
    const { 'x-service-signature': signature, 'x-service-event': event } = req.headers;
    res.writeHead(answer(signature === right, String(event))).end(body);
  });
}

// test/doctor has the checks that pass or fail on every host.
describe('paylink doctor', () => {
  it('passes every check of a shop on Paylink and names no order of it', async () => {
    const shop = await openShop();
    const { code, stdout } = await doctor(shop.url);
    expect(stdout).toMatch(
      /ok +secret +your server uses the same secret as this command\. Compare it with the secret in the portal/,
    );
    expect(stdout).toMatch(/– +credit +not checked: --deliver/);
    expect(code).toBe(0);
    expect(shop.credited).toEqual([expect.stringMatching(/^[0-9a-f]{8}-/)]);
  });

  it('names a webhook that does not verify and does not judge its secret', async () => {
    const { stdout, code } = await doctor(
      await serve((req, res) => req.resume().on('end', () => res.end('{"received":true}'))),
    );
    expect(stdout).toMatch(
      /FAILED +bad signature +is accepted \(200\): the webhook does not verify\n/,
    );
    expect(stdout).toMatch(/\n1 of \d checks failed\n$/);
    expect(stdout).not.toMatch(/secret {2}|is the same/);
    expect(code).toBe(1);
  });

  it.each([
    [404, /FAILED +route +answers 404/],
    [405, /FAILED +method +answers 405 to POST/],
    [
      307,
      /FAILED +route +answers 307, a redirect to http:\S+\/other: the service does not follow redirects/,
    ],
    [429, /FAILED +rate limit +answers 429\. A rate limiter in front of the webhook/],
    [502, /FAILED +bad signature +answers 502/],
  ])('explains a %i', async (status, message) => {
    const found = await examined(
      await serve((_req, res) => res.writeHead(status, { location: '/other' }).end()),
    );
    expect(found).toMatch(message);
    expect(found).not.toMatch(/ok +bad signature/);
  });

  const page = (text: string) =>
    `<!doctype html><title>${text}</title><p>${text} ${'x'.repeat(20)}</p>`;
  const HTML = { 'content-type': 'text/html' };
  const JSON_TYPE = { 'content-type': 'application/json' };
  const BASIC = { 'www-authenticate': 'Basic realm="shop"' };
  it.each<[string, number, Record<string, string>, string, RegExp]>([
    [
      'a login page',
      403,
      { ...HTML, server: 'gate' },
      page('Sign in'),
      /server: gate.*a login page/,
    ],
    ['a login page with status 200', 200, HTML, page('Log in'), /is accepted.*else .*a login page/],
    ['HTTP authentication', 401, BASIC, '', /www-authenticate: Basic.*a login \(WWW/],
    [
      'a CSRF check',
      403,
      JSON_TYPE,
      '{"error":"invalid_csrf_token"}',
      /something else.*a CSRF check/,
    ],
    [
      'a gateway',
      403,
      JSON_TYPE,
      '{"error":"forbidden"}',
      /the same reply, which is not Paylink's/,
    ],
    [
      'a bot challenge',
      403,
      { ...HTML, 'cf-mitigated': 'challenge' },
      page('Wait'),
      /a bot challenge/,
    ],
    [
      'a bot challenge',
      503,
      HTML,
      page('Just a moment'),
      /answers 503, text\/html.*a bot challenge/,
    ],
    ['a catch-all', 200, HTML, page('Shop'), /is accepted.*something else .*a catch-all/],
  ])('does not mistake %s for the webhook (%i)', async (_, status, headers, body, message) => {
    let count = 0;
    // Tokens and ids make each page different.
    const url = await serve((_req, res) =>
      res.writeHead(status, headers).end(body.includes('<') ? `${body}${count++}` : body),
    );
    const found = await examined(url);
    expect(found).toMatch(message);
    expect(found).not.toMatch(/ok +secret|FAILED +secret|xxxxx/);
  });

  it('derives its bad signature from the secret so that a Paylink receiver recognises the probe', async () => {
    const bodies: [string, string][] = [];
    const url = await serve(async (req, res) => {
      const body = (await bodyOf(req)).toString();
      bodies.push([body, String(req.headers['x-service-signature'])]);
      res.writeHead(401).end();
    });
    await examined(url);
    const [[body, signature]] = bodies as [[string, string]];
    expect(signature).toBe(signatureOf(`${body}\npaylink doctor probe`));
  });

  it.each([
    [
      400,
      /FAILED +signed event +a signed event of the kind paylink\.doctor gets 400.*200\. The server rejected the/,
    ],
    [
      422,
      /FAILED +signed event +.* gets 422.*200\. The server rejected the notification: read its log/,
    ],
    [429, /FAILED +rate limit +answers 429/],
    [500, /FAILED +signed event +.* gets 500.*200\. The server failed: read its log/],
  ])('fails if a bad signature gets 401 and a signed event gets %i', async (status, message) => {
    const found = await examined(await openHandWritten((isRight) => (isRight ? status : 401)));
    expect(found).toMatch(message);
    expect(found.match(/FAILED/g)).toHaveLength(1);
  });

  it('does not call an unknown order refused if a rate limiter answers 429', async () => {
    const url = await openHandWritten((isRight, event) =>
      event === 'payment.succeeded' ? 429 : isRight ? 200 : 401,
    );
    const found = await examined(url);
    expect(found).toMatch(/FAILED +rate limit +answers 429/);
    expect(found).not.toMatch(/unknown order/);
  });

  it('sends the fields of --header with each request, also with the GET of a 404', async () => {
    const requests: string[] = [];
    const url = await serve((req, res) => {
      requests.push(`${req.method} ${String(req.headers['x-tunnel'])}`);
      res.writeHead(404).end();
    });
    await doctor(url, '--header', 'X-Tunnel: skip');
    expect(requests).toEqual(['POST skip', 'GET skip']);
  });

  it.each([400, 401, 422])(
    'names two possible causes if a hand-written webhook refuses every signature with %i',
    async (status) => {
      const found = await examined(await openHandWritten(() => status));
      expect(found).toMatch(
        /FAILED +webhook +.*something else answered.* If you verify by hand, compare the secrets/,
      );
    },
  );

  it('does not blame the secret if the server refuses every request for another reason', async () => {
    const found = await examined(await openHandWritten(() => 415));
    expect(found).toMatch(/FAILED +signed event +.* gets 415.*The server rejects the content type/);
  });

  it('names a proxy that adds spaces to the JSON if the webhook refuses with 400', async () => {
    const url = await openHandWritten((isRight) => (isRight ? 200 : 400));
    const spaced = '{ "reference" : "paylink-doctor" }\n';
    const found = await examined(await openProxy(url, () => spaced));
    expect(found).toMatch(/ok +secret/);
    expect(found).toMatch(/FAILED +body +.*a parser or a proxy rewrites the JSON/);
  });

  it.each([
    ['keeps the body', (body: string) => body],
    ['shows a page', () => '<!doctype html><title>Sorry</title>'],
    ['empties the body', () => ''],
  ])('names a proxy that turns 503 into 200 and %s', async (_, shown) => {
    const url = await openReceiver();
    const proxy = await serve(async (req, res) => {
      const body = await bodyOf(req);
      const headers = Object.fromEntries(
        Object.entries(req.headers).filter(([name]) => name.startsWith('x-service')),
      ) as Record<string, string>;
      const answer = await fetch(url, { method: req.method!, headers, body });
      const isFailure = answer.status >= 500;
      const text = await answer.text();
      res.writeHead(isFailure ? 200 : answer.status).end(isFailure ? shown(text) : text);
    });
    expect(await examined(url)).toMatch(
      /ok unknown order is not acknowledged: 503 \(unknown_order\)/,
    );
    expect(await examined(proxy)).toMatch(
      /FAILED unknown order is acknowledged: 200.*A proxy turns/,
    );
  });

  it('sends nothing to another machine without --allow-host, and never --deliver', async () => {
    const url = 'https://shop.example/hook';
    expect(await doctor(url)).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/not this machine[^]*--allow-host shop\.example/) as string,
    });
    const args = words`--allow-host shop.example --deliver order-42`;
    const { code, stderr } = await doctor(url, ...args);
    expect(code).toBe(2);
    expect(stderr).toMatch(/only goes to this machine/);
  });

  it('fails if nothing listens', async () => {
    const { stdout, code } = await doctor('http://127.0.0.1:9/');
    expect(stdout).toMatch(/FAILED +answers/);
    expect(code).toBe(1);
  });
});

describe('paylink doctor --module', () => {
  it('tests find and credit, and says which checks need more', async () => {
    const shop = { rows: [], currency: 'XOF' };
    const { code, stdout } = await paylinkOn(NOBODY, shop, ['doctor', '--yes']);
    expect(stdout).toMatch(/ok +orders +20 simultaneous calls credit an order once/);
    expect(stdout).toMatch(/– +orders +not tested: find returns the currency.*: one currency\)/);
    expect(stdout).toMatch(/– +orders +not tested: .*tenant/);
    expect(stdout).toContain('nothing wrong was found');
    expect(stdout).toMatch(/\nNext: run paylink torture .*--module and --database <url>/);
    expect(code).toBe(0);
  });

  it('tests that the orders of two merchants stay separate if --tenant names them', async () => {
    const args = words`doctor --yes --tenant acme --tenant globex`;
    const { code, stdout } = await paylinkOn(NOBODY, { rows: [] }, args);
    expect(stdout).not.toMatch(/not tested: .*tenant/);
    expect({ code, stdout }).toMatchObject({ code: 0 });
  });

  it('names the fault of credit, and exits with 1', async () => {
    const shop = { rows: [], credit: 'changes no row' } as const;
    const { code, stdout } = await paylinkOn(NOBODY, shop, ['doctor', '--yes', '--json']);
    expect(code).toBe(1);
    const { checks } = JSON.parse(stdout) as {
      readonly checks: readonly { readonly ok: boolean | null; readonly message: string }[];
    };
    expect(checks.find(({ ok }) => ok === false)!.message).toMatch(/credit/);
    expect(checks.map(({ ok }) => ok)).not.toContain(undefined);
  });

  it.each([
    ['--yes is missing', [], /stores about 250 orders[^]*add --yes/],
    ['there is one merchant', ['--yes', '--tenant', 'acme'], /name two merchants/],
  ])('exits with 2 and tests nothing if %s', async (_, args, message) => {
    const result = await paylinkOn(NOBODY, { rows: [] }, ['doctor', ...args]);
    expect(result).toMatchObject({ code: 2, stdout: '' });
    expect(result.stderr).toMatch(message);
  });
});
