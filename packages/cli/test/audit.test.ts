import { createHmac } from 'node:crypto';
import { describe, expect, it, vi } from 'vitest';
import { paylink, SECRET } from './paylink.js';
import { openShop, serve } from './servers.js';

const env = { WEBHOOK_SECRET: SECRET };

interface Report {
  readonly url: string;
  readonly passed: boolean;
  readonly results: readonly { readonly id: string; readonly name: string; readonly passed: boolean }[];
  readonly findings: readonly { readonly id: string; readonly advice: string }[];
}

/** A receiver that verifies what its JSON parser made of the body, as many do, and takes any case of hexadecimal. */
async function openCarelessShop(): Promise<string> {
  return serve((req, res) => {
    const chunks: Buffer[] = [];
    req.on('data', (chunk: Buffer) => chunks.push(chunk));
    req.on('end', () => {
      try {
        const body = JSON.stringify(JSON.parse(Buffer.concat(chunks).toString()));
        const signature = createHmac('sha256', SECRET).update(body).digest('hex');
        res.writeHead(String(req.headers['x-service-signature']).toLowerCase() === signature ? 200 : 401).end();
      } catch {
        res.writeHead(500).end('\u001b[2JSyntaxError');
      }
    });
  });
}

// An audit waits for servers that wait for it.
vi.setConfig({ testTimeout: 120_000 });

describe('paylink audit', () => {
  it('finds nothing in a shop on Paylink', async () => {
    const shop = await openShop();
    const { code, stdout, stderr } = await paylink(['audit', '--to', shop.url, '--reference', 'order-42'], { env });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain(`Auditing ${shop.url}\n`);
    expect(stdout).toMatch(/\n\d+ tried(, \d+ not)?: no finding\n$/);
    expect(shop.credited).toContain('order-42');
    // No order of anybody else's.
    expect(shop.credited.filter((reference) => !reference.includes('order-42'))).toEqual([]);
  });

  it('ends with 1 on a careless server in any language, and says what it found and how to mend it', async () => {
    const url = await openCarelessShop();
    const json = await paylink(['audit', '--to', url, '--timeout', '2', '--json'], { env });
    expect(json).toMatchObject({ code: 1, stderr: '' });
    const report = JSON.parse(json.stdout) as Report;
    expect(report).toMatchObject({ url: `${url}/`, passed: false });
    expect(json.stdout).not.toMatch(/[0-9a-f]{64}/);
    const found = report.findings.map(({ id }) => id);
    expect(found).toContain('C02');
    expect(found).toContain('A06');
    expect(report.results.filter(({ passed }) => !passed)).toHaveLength(found.length);

    const { code, stdout } = await paylink(['audit', '--to', url, '--timeout', '2'], { env });
    expect(code).toBe(1);
    for (const { id, advice } of report.findings) {
      expect(stdout).toMatch(new RegExp(`^  FOUND +\\d* +${id} `, 'm'));
      expect(stdout).toContain(`  ${advice}\n`);
    }
    expect(stdout).not.toContain('\u001b');
  });

  it('finds a server that takes everything', async () => {
    const url = await serve((req, res) => req.resume().on('end', () => res.end()));
    const { code, stdout } = await paylink(['audit', '--to', url, '--timeout', '2', '--json'], { env });
    expect(code).toBe(1);
    expect((JSON.parse(stdout) as Report).findings.map(({ id }) => id)).toContain('A01');
  });

  it('sends a tunnel the header that it asks for', async () => {
    const shop = await openShop();
    const gate = await serve((req, res) => {
      if (req.headers['x-tunnel'] !== 'opens-the-tunnel') return void res.writeHead(511).end();
      res.writeHead(307, { location: shop.url }).end();
    });
    const { stdout } = await paylink(
      ['audit', '--to', gate, '--timeout', '2', '--header', 'X-Tunnel: opens-the-tunnel', '--json'],
      { env },
    );
    expect(stdout).not.toContain('511');
    expect(stdout).toContain('307');
    expect(stdout).not.toContain('opens-the-tunnel');
  });

  it('ends with 1 where nothing listens, and says so', async () => {
    const result = await paylink(['audit', '--to', 'http://127.0.0.1:9/'], { env });
    expect(result.code).toBe(1);
    expect(result.stderr).toMatch(/^error: no connection to http:\/\/127\.0\.0\.1:9 \(ECONNREFUSED\): nothing listens there/);
    expect(result.stderr).not.toMatch(/DEBUG|\n {4}at /);
  });

  it.each([
    ['no server', [], /no --to/],
    ['no secret', ['--to', 'http://127.0.0.1:9/', '--dotenv', '/dev/null'], /no webhook secret/],
    ['too many at once', ['--to', 'http://127.0.0.1:9/', '--concurrency', '1000'], /from 1 to/],
  ])('sends nothing and ends with 2 on %s', async (_, args, message) => {
    const result = await paylink(['audit', ...args], { env: args.includes('--dotenv') ? {} : env });
    expect(result).toMatchObject({ code: 2, stdout: '' });
    expect(result.stderr).toMatch(message);
  });
});
