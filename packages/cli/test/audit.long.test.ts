import { describe, expect, it, vi } from 'vitest';
import { paylinkProcess, SECRET, start, words } from './paylink.js';
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
  readonly findings: readonly { readonly id: string }[];
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
  paylinkProcess(['audit', ...args], { env, ...(cwd === undefined ? {} : { cwd }) });

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

    const { code, stdout } = await audit(words`--to ${url} --timeout 2s`);
    expect(code).toBe(1);
    expect(stdout).toMatch(
      /^critical {2}verifies re-serialised JSON \(\d+ findings\)\n {2}\S.*\n {2}Fix: Verify the bytes as received/m,
    );
    expect(stdout.split('\n').length).toBeLessThan(45);
    expect(stdout).not.toContain('\u001b');
    expect(stdout).not.toMatch(/bodyLimit|requestHeaders/);
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
});
