import { readFileSync } from 'node:fs';
import { describe, expect, it, vi } from 'vitest';
import { join } from 'node:path';
import { newFolder, paylink, SECRET, start, words } from './paylink.js';
import { inTerminal } from './terminal.js';
import { bodyOf, openShop, serve, signatureOf } from './servers.js';

const env = { WEBHOOK_SECRET: SECRET };

interface Report {
  readonly url: string;
  readonly passed: boolean;
  readonly results: readonly {
    readonly id: string;
    readonly name: string;
    readonly passed: boolean;
  }[];
  readonly findings: readonly { readonly id: string; readonly advice: string }[];
  readonly causes: readonly { readonly id: string; readonly title: string; readonly fix: string }[];
  readonly stopped?: { readonly reason: string };
}

/**
 * A common careless receiver: verifies its JSON parser's output, and accepts any case of
 * hexadecimal.
 */
function openCarelessShop(): Promise<string> {
  return serve(async (req, res) => {
    try {
      const body = JSON.stringify(JSON.parse((await bodyOf(req)).toString()));
      const sent = String(req.headers['x-service-signature']).toLowerCase();
      res.writeHead(sent === signatureOf(body) ? 200 : 401).end();
    } catch {
      res.writeHead(500).end('\u001b[2JSyntaxError');
    }
  });
}

const audit = (args: readonly string[], cwd?: string) =>
  paylink(['audit', ...args], { env, ...(cwd === undefined ? {} : { cwd }) });

// The audit waits for servers that wait for a slow body.
vi.setConfig({ testTimeout: 120_000 });

describe('paylink audit', () => {
  it('finds nothing in a shop on Paylink', async () => {
    const shop = await openShop();
    const result = await audit(words`--to ${shop.url} --reference order-42`);
    expect(result).toMatchObject({ code: 0, stderr: '' });
    expect(result.stdout).toContain(`Auditing ${shop.url}\n`);
    expect(result.stdout).toMatch(/\n\d+ tried(, \d+ not)?: no finding\n$/);
    expect(shop.credited).toContain('order-42');
    // All are the audit's own orders.
    expect(shop.credited.filter((reference) => !reference.includes('order-42'))).toEqual([]);
  });

  it('exits with 1 and prints cause, evidence and fix if the server verifies re-serialised JSON', async () => {
    const url = await openCarelessShop();
    const json = await audit(words`--to ${url} --timeout 2s --json`);
    expect(json.code).toBe(1);
    const report = JSON.parse(json.stdout) as Report;
    expect(report).toMatchObject({ url: `${url}/`, passed: false });
    expect(json.stdout).not.toMatch(/[0-9a-f]{64}/);
    expect(report.causes.map(({ id }) => id)).toEqual(
      expect.arrayContaining(['reserializes', 'several_spellings', 'no_deadline']),
    );
    expect(report.results.filter(({ passed }) => !passed)).toHaveLength(report.findings.length);

    const file = join(newFolder(), 'junit.xml');
    const { code, stdout } = await audit(words`--to ${url} --timeout 2s --junit ${file}`);
    expect(code).toBe(1);
    expect(stdout).toMatch(
      /^critical {2}verifies re-serialised JSON \(\d+ findings\)\n {2}\S.*\n {2}Fix: Verify the bytes as received/m,
    );
    expect(stdout.split('\n').length).toBeLessThan(45);
    expect(stdout).toMatch(/^Not judged:\n {2}double credits after replays/m);
    expect(stdout).not.toContain('\u001b');
    expect(stdout).not.toMatch(/bodyLimit|requestHeaders/);
    const junit = readFileSync(file, 'utf8');
    expect(junit).toMatch(
      /<testsuite name="paylink audit [^"]+" tests="\d+" failures="[1-9]\d*" errors="0"/,
    );
    expect(junit.match(/<failure /g)).toHaveLength(Number(/failures="(\d+)"/.exec(junit)![1]));
  });

  it('stops at once and names the secret if the server has another one', async () => {
    const shop = await openShop();
    const other = words`--secret the-secret-of-another-shop`;
    const { code, stdout } = await audit(words`--to ${shop.url} ${other}`);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^stopped {2}.*names on both sides/m);
  });

  it('finds double credits through the URL or the command of --credits', async () => {
    const counts = new Map<string, number>();
    const shop = await serve(async (req, res) => {
      const asked = /^\/credits\/(.*)$/.exec(req.url!)?.[1];
      if (asked !== undefined)
        return void res.end(String(counts.get(decodeURIComponent(asked)) ?? 0));
      const raw = await bodyOf(req);
      if (req.headers['x-service-signature'] !== signatureOf(raw))
        return void res.writeHead(401).end();
      const named = /"reference":"([^"]*)"/.exec(raw.toString())?.[1] ?? 'undefined';
      counts.set(named, (counts.get(named) ?? 0) + 1);
      res.end();
    });
    const reference = 'order 42/é$(touch x)';
    const ask = `node -e 'fetch(process.argv[1] + "/credits/" + encodeURIComponent(process.argv[2])).then((r) => r.text()).then(console.log)' ${shop} {reference}`;
    for (const credits of [`${shop}/credits/{reference}`, ask]) {
      counts.clear();
      const args = words`--to ${shop}/hook --reference ${reference} --credits ${credits}`;
      const running = start(words`audit ${args} --timeout 1s --json`, env);
      // The credit verdict follows the first delivery and five replays. The test does not wait for
      // the rest.
      const wait = { timeout: 60_000, interval: 100 };
      await vi.waitFor(() => expect(counts.get(reference)).toBeGreaterThan(6), wait);
      running.child.kill('SIGINT');
      const { code, stdout } = await running.result();
      expect([1, 130]).toContain(code);
      const { causes } = JSON.parse(stdout) as Report;
      expect(causes.map(({ id }) => id)).toContain('no_memory');
    }
  });

  it.each([
    ['prints no whole number', 'echo {reference}', 1, /must return only a whole number/],
    ['fails', 'exit 3; {reference}', 1, /the command failed \(3\)/],
    ['has no {reference}', 'node count.js', 2, /must contain \{reference\}/],
  ])('explains the error if the command of --credits %s', async (_, credits, code, message) => {
    const shop = await openShop();
    const result = await audit(words`--to ${shop.url} --credits ${credits}`);
    expect(result.code).toBe(code);
    expect(result.stderr).toMatch(message);
  });

  it('waits for a credit as long as --settle allows', async () => {
    const shop = await openShop();
    const credits = 'echo 0; : {reference}';
    const { code, stdout } = await audit(
      words`--to ${shop.url} --credits ${credits} --settle 0.2s`,
    );
    expect(code).toBe(1);
    expect(stdout).toMatch(/^stopped {2}.*did not credit.*later than 200 ms/m);
  });

  it('audits another host only with --allow-host', async () => {
    const refused = await audit(words`--to https://shop.example/webhooks`);
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    expect(refused.stderr).toMatch(
      /shop\.example is not this machine[^]*--allow-host shop\.example/,
    );
    const allowed = await audit(words`--to https://shop.invalid/ --allow-host shop.invalid`);
    expect(allowed.code).toBe(1);
    expect(allowed.stderr).toMatch(/no connection to https:\/\/shop\.invalid/);
  });

  it('shows its progress at a terminal and prints a partial report at Ctrl-C', async () => {
    const shop = await openShop();
    const { code, output } = await inTerminal(words`audit --to ${shop.url}`, env, [
      { after: /\d\d of \d+ /, send: '\u0003' },
    ]);
    expect(output).toMatch(/\d+ of [12]\d\d {2}/);
    expect(output).toMatch(/stopped.*ended early/);
    expect(output).toMatch(/\d+ tried(, \d+ not)?: no finding so far/);
    expect(code).toBe(130);
  });

  it('prints a partial JSON report at SIGTERM', async () => {
    const shop = await openShop();
    const running = start(words`audit --to ${shop.url} --json`, env);
    await expect.poll(() => shop.credited.length, { timeout: 20_000 }).toBeGreaterThan(3);
    running.child.kill('SIGTERM');
    const { code, stdout } = await running.result();
    const stopped = { reason: 'interrupted' };
    expect(JSON.parse(stdout)).toMatchObject({ complete: false, stopped });
    expect(code).toBe(130);
  });

  it('sends the --header that a tunnel requires, and does not print it', async () => {
    const shop = await openShop();
    const gate = await serve((req, res) => {
      if (req.headers['x-tunnel'] !== 'opens-the-tunnel') return void res.writeHead(511).end();
      res.writeHead(307, { location: shop.url }).end();
    });
    const header = 'X-Tunnel: opens-the-tunnel';
    const { stdout } = await audit(words`--to ${gate} --header ${header} --json`);
    expect(stdout).not.toContain('511');
    expect(stdout).toContain('307');
    expect(stdout).not.toContain('opens-the-tunnel');
  });

  it('exits with 1 and names the address if nothing listens', async () => {
    const result = await audit(words`--to http://127.0.0.1:9/`);
    expect(result.code).toBe(1);
    expect(result.stderr).toMatch(
      /^error: no connection to http:\/\/127\.0\.0\.1:9 \(ECONNREFUSED\): nothing listens there/,
    );
    expect(result.stderr).not.toMatch(/DEBUG|\n {4}at /);
  });

  it('exits with 2 and sends nothing if the JUnit report cannot be written', async () => {
    let requests = 0;
    const url = await serve((req, res) => {
      requests++;
      req.resume().on('end', () => res.writeHead(401).end());
    });
    const { code, stdout, stderr } = await audit(words`--to ${url} --junit missing/junit.xml`);
    expect({ code, stdout, requests }).toEqual({ code: 2, stdout: '', requests: 0 });
    expect(stderr).toMatch(/^error: missing\/junit\.xml cannot be written \(ENOENT\)/);
  });
});
