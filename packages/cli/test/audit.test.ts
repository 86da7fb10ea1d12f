import { createHmac } from 'node:crypto';
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { describe, expect, it, vi } from 'vitest';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { newFolder, paylink, SECRET, start } from './paylink.js';
import { inTerminal } from './terminal.js';
import { openShop, serve } from './servers.js';

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
async function openCarelessShop(): Promise<string> {
  return serve((req, res) => {
    const chunks: Buffer[] = [];
    req.on('data', (chunk: Buffer) => chunks.push(chunk));
    req.on('end', () => {
      try {
        const body = JSON.stringify(JSON.parse(Buffer.concat(chunks).toString()));
        const signature = createHmac('sha256', SECRET).update(body).digest('hex');
        res
          .writeHead(
            String(req.headers['x-service-signature']).toLowerCase() === signature ? 200 : 401,
          )
          .end();
      } catch {
        res.writeHead(500).end('\u001b[2JSyntaxError');
      }
    });
  });
}

// The audit waits for servers that wait for a slow body.
vi.setConfig({ testTimeout: 120_000 });

describe('paylink audit', () => {
  it('finds nothing in a shop on Paylink', async () => {
    const shop = await openShop();
    const { code, stdout, stderr } = await paylink(
      ['audit', '--to', shop.url, '--reference', 'order-42'],
      { env },
    );
    expect(code).toBe(0);
    // A pipe gets an occasional progress line.
    expect(stderr).toMatch(/^(audit: \d+ of \d+\n)*$/);
    expect(stdout).toContain(`Auditing ${shop.url}\n`);
    expect(stdout).toMatch(/\n\d+ tried(, \d+ not)?: no finding\n$/);
    expect(shop.credited).toContain('order-42');
    // All are the audit's own orders.
    expect(shop.credited.filter((reference) => !reference.includes('order-42'))).toEqual([]);
  });

  it('exits with 1 and prints cause, evidence and fix if the server verifies re-serialised JSON', async () => {
    const url = await openCarelessShop();
    const json = await paylink(['audit', '--to', url, '--timeout', '2', '--json'], { env });
    expect(json.code).toBe(1);
    const report = JSON.parse(json.stdout) as Report;
    expect(report).toMatchObject({ url: `${url}/`, passed: false });
    expect(json.stdout).not.toMatch(/[0-9a-f]{64}/);
    expect(report.causes.map(({ id }) => id)).toEqual(
      expect.arrayContaining(['reserializes', 'several_spellings', 'no_deadline']),
    );
    expect(report.results.filter(({ passed }) => !passed)).toHaveLength(report.findings.length);

    const folder = newFolder();
    const files = ['--junit', join(folder, 'junit.xml'), '--sarif', join(folder, 'audit.sarif')];
    const { code, stdout } = await paylink(['audit', '--to', url, '--timeout', '2', ...files], {
      env,
    });
    expect(code).toBe(1);
    expect(stdout).toMatch(
      /^critical {2}verifies re-serialised JSON \(\d+ findings\)\n {2}\S.*\n {2}Fix: Verify the bytes as received/m,
    );
    expect(stdout.split('\n').length).toBeLessThan(45);
    expect(stdout).toMatch(/^Not judged:\n {2}double credits after replays/m);
    expect(stdout).not.toContain('\u001b');
    expect(stdout).not.toMatch(/bodyLimit|requestHeaders/);

    const junit = await readFile(files[1]!, 'utf8');
    expect(junit).toMatch(
      /<testsuite name="paylink audit [^"]+" tests="\d+" failures="[1-9]\d*" errors="0"/,
    );
    expect(junit.match(/<failure /g)).toHaveLength(Number(/failures="(\d+)"/.exec(junit)![1]));
    const sarif = JSON.parse(await readFile(files[3]!, 'utf8')) as {
      version: string;
      runs: { results: { ruleId: string; level: string }[] }[];
    };
    expect(sarif.version).toBe('2.1.0');
    expect(sarif.runs[0]!.results).toContainEqual(
      expect.objectContaining({ ruleId: 'reserializes', level: 'error' }),
    );
  });

  it('stops at once and names the secret if the server has another one', async () => {
    const shop = await openShop();
    const { code, stdout } = await paylink(['audit', '--to', shop.url], {
      env: { WEBHOOK_SECRET: 'the-secret-of-another-shop' },
    });
    expect(code).toBe(1);
    expect(stdout).toMatch(/^stopped {2}.*names on both sides/m);
  });

  it('finds double credits through the URL or the command of --credits', async () => {
    const counts = new Map<string, number>();
    const shop = await serve((req, res) => {
      const asked = /^\/credits\/(.*)$/.exec(req.url!)?.[1];
      if (asked !== undefined)
        return void res.end(String(counts.get(decodeURIComponent(asked)) ?? 0));
      const chunks: Buffer[] = [];
      req.on('data', (chunk: Buffer) => chunks.push(chunk));
      req.on('end', () => {
        const raw = Buffer.concat(chunks);
        if (
          req.headers['x-service-signature'] !==
          createHmac('sha256', SECRET).update(raw).digest('hex')
        )
          return void res.writeHead(401).end();
        const named = /"reference":"([^"]*)"/.exec(raw.toString())?.[1] ?? 'undefined';
        counts.set(named, (counts.get(named) ?? 0) + 1);
        res.end();
      });
    });
    const reference = 'order 42/é$(touch x)';
    const ask = `node -e 'fetch(process.argv[1] + "/credits/" + encodeURIComponent(process.argv[2])).then((r) => r.text()).then(console.log)' ${shop} {reference}`;
    for (const credits of [`${shop}/credits/{reference}`, ask]) {
      counts.clear();
      const args = [
        'audit',
        '--to',
        `${shop}/hook`,
        '--reference',
        reference,
        '--credits',
        credits,
        '--timeout',
        '1',
        '--json',
      ];
      const running = start(args, env);
      // The credit verdict follows the first delivery and five replays. The test does not wait for
      // the rest.
      await vi.waitFor(() => expect(counts.get(reference)).toBeGreaterThan(6), {
        timeout: 60_000,
        interval: 100,
      });
      running.child.kill('SIGINT');
      const { code, stdout } = await running.result();
      expect([1, 130]).toContain(code);
      const { causes } = JSON.parse(stdout) as Report;
      expect(causes.map(({ id }) => id)).toContain('no_memory');
    }
  });

  it.each([
    [
      'prints no whole number',
      "node -e 'console.log(process.argv[1])' {reference}",
      1,
      /must return only a whole number/,
    ],
    ['fails', "node -e 'process.exit(3)' {reference}", 1, /the command failed \(3\)/],
    ['has no {reference}', 'node count.js', 2, /must contain \{reference\}/],
    ['has an unclosed quote', "node 'count.js {reference}", 2, /has an unclosed/],
  ])('explains the error if the command of --credits %s', async (_, credits, code, message) => {
    const shop = await openShop();
    const result = await paylink(['audit', '--to', shop.url, '--credits', credits], { env });
    expect(result.code).toBe(code);
    expect(result.stderr).toMatch(message);
  });

  it('waits for a credit as long as --settle allows', async () => {
    const shop = await openShop();
    const credits = ['--credits', "node -e 'console.log(0)' {reference}"];
    const { code, stdout } = await paylink(
      ['audit', '--to', shop.url, ...credits, '--settle', '0.2'],
      { env },
    );
    expect(code).toBe(1);
    expect(stdout).toMatch(/^stopped {2}.*did not credit.*later than 200 ms/m);
  });

  it('audits another host only with --allow-host', async () => {
    const refused = await paylink(['audit', '--to', 'https://shop.example/webhooks'], { env });
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    expect(refused.stderr).toMatch(
      /shop\.example is not this machine[^]*--allow-host shop\.example/,
    );
    const allowed = await paylink(
      ['audit', '--to', 'https://shop.invalid/', '--allow-host', 'shop.invalid'],
      { env },
    );
    expect(allowed.code).toBe(1);
    expect(allowed.stderr).toMatch(/no connection to https:\/\/shop\.invalid/);
  });

  it('shows its progress at a terminal and prints a partial report at Ctrl-C', async () => {
    const shop = await openShop();
    const { code, output } = await inTerminal(['audit', '--to', shop.url], env, [
      { after: /\d\d of \d+ /, send: '\u0003' },
    ]);
    expect(output).toMatch(/\d+ of [12]\d\d {2}/);
    expect(output).toMatch(/stopped.*ended early/);
    expect(output).toMatch(/\d+ tried(, \d+ not)?: no finding so far/);
    expect(code).toBe(130);
  });

  it('reports a server that accepts unsigned deliveries', async () => {
    const url = await serve((req, res) => req.resume().on('end', () => res.end()));
    const { code, stdout } = await paylink(['audit', '--to', url, '--timeout', '2', '--json'], {
      env,
    });
    expect(code).toBe(1);
    expect((JSON.parse(stdout) as Report).findings.map(({ id }) => id)).toContain('A01');
  });

  it('sends the --header that a tunnel requires, and does not print it', async () => {
    const shop = await openShop();
    const gate = await serve((req, res) => {
      if (req.headers['x-tunnel'] !== 'opens-the-tunnel') return void res.writeHead(511).end();
      res.writeHead(307, { location: shop.url }).end();
    });
    const { stdout } = await paylink(
      ['audit', '--to', gate, '--header', 'X-Tunnel: opens-the-tunnel', '--json'],
      { env },
    );
    expect(stdout).not.toContain('511');
    expect(stdout).toContain('307');
    expect(stdout).not.toContain('opens-the-tunnel');
  });

  it('exits with 1 and names the address if nothing listens', async () => {
    const result = await paylink(['audit', '--to', 'http://127.0.0.1:9/'], { env });
    expect(result.code).toBe(1);
    expect(result.stderr).toMatch(
      /^error: no connection to http:\/\/127\.0\.0\.1:9 \(ECONNREFUSED\): nothing listens there/,
    );
    expect(result.stderr).not.toMatch(/DEBUG|\n {4}at /);
  });

  it.each([
    [
      'lies in a missing folder',
      ['--junit', 'missing/junit.xml'],
      /^error: missing\/junit\.xml cannot be written \(ENOENT\)/,
    ],
    [
      'is a folder',
      ['--junit', 'junit.xml', '--sarif', '.'],
      /^error: \. cannot be written \(EISDIR\)/,
    ],
  ])('exits with 2 and sends nothing if a report file %s', async (_, args, message) => {
    let requests = 0;
    const url = await serve((req, res) => {
      requests++;
      req.resume().on('end', () => res.writeHead(401).end());
    });
    const cwd = newFolder();
    const { code, stdout, stderr } = await paylink(['audit', '--to', url, ...args], { env, cwd });
    expect({ code, stdout, requests }).toEqual({ code: 2, stdout: '', requests: 0 });
    expect(stderr).toMatch(message);
    expect(readdirSync(cwd)).toEqual([]);
  });

  it('leaves no empty report if the audit cannot begin, and overwrites an earlier report', async () => {
    const cwd = newFolder();
    const args = ['--junit', 'junit.xml', '--sarif', 'audit.sarif'];
    const unreachable = await paylink(['audit', '--to', 'http://127.0.0.1:9/', ...args], {
      env,
      cwd,
    });
    expect(unreachable.code).toBe(1);
    expect(readdirSync(cwd)).toEqual([]);
    writeFileSync(join(cwd, 'junit.xml'), 'of before');
    const url = await serve((req, res) => req.resume().on('end', () => res.writeHead(401).end()));
    await paylink(['audit', '--to', url, ...args], { env, cwd });
    expect(await readFile(join(cwd, 'junit.xml'), 'utf8')).toContain(
      '<testsuite name="paylink audit',
    );
  });

  it('says that the audit ran if its report cannot be written afterwards', async () => {
    const folder = newFolder();
    const url = await serve((req, res) => {
      rmSync(folder, { recursive: true, force: true });
      req.resume().on('end', () => res.writeHead(401).end());
    });
    const { code, stderr } = await paylink(
      ['audit', '--to', url, '--junit', join(folder, 'junit.xml')],
      { env },
    );
    expect(code).toBe(1);
    expect(stderr).toMatch(/junit\.xml cannot be written \(ENOENT\)\n +the audit ran/);
  });

  it.each([
    ['--to is missing', [], /no --to/],
    [
      'no webhook secret is set',
      ['--to', 'http://127.0.0.1:9/', '--dotenv', '/dev/null'],
      /no webhook secret/,
    ],
    ['--settle is 0', ['--to', 'http://127.0.0.1:9/', '--settle', '0'], /more than 0/],
    [
      '--concurrency is too large',
      ['--to', 'http://127.0.0.1:9/', '--concurrency', '1000'],
      /from 1 to/,
    ],
  ])('exits with 2 and sends nothing if %s', async (_, args, message) => {
    const result = await paylink(['audit', ...args], { env: args.includes('--dotenv') ? {} : env });
    expect(result).toMatchObject({ code: 2, stdout: '' });
    expect(result.stderr).toMatch(message);
  });
});
