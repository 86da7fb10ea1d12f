/** Runs Prometheus's own tests of the alert rules, and holds every metric against the recipes. */
import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Registry } from 'prom-client';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parse, stringify } from 'yaml';
import { observeIn, observePaymentsIn, watchUnpaid } from '../src/prometheus.js';

const folder = fileURLToPath(new URL('../prometheus/', import.meta.url));
const read = (name: string): string => readFileSync(join(folder, name), 'utf8');

interface Rule {
  readonly alert?: string;
  readonly record?: string;
  readonly expr: string;
}
const parsed = parse(read('rules.yaml')) as { groups: [{ rules: Rule[] }] };
const [group] = parsed.groups;
const { rules } = group;
const alerts = rules.flatMap(({ alert }) => alert ?? []);

/** Tests rules, and returns promtool's exit code and output. */
function promtool(
  text: string,
  tests = read('rules.test.yaml'),
): Promise<{ code: number | null; output: string }> {
  const copy = mkdtempSync(join(tmpdir(), 'paylink-rules-'));
  onTestFinished(() => rmSync(copy, { recursive: true }));
  cpSync(folder, copy, { recursive: true });
  writeFileSync(join(copy, 'rules.yaml'), text);
  writeFileSync(join(copy, 'rules.test.yaml'), tests);
  return new Promise((resolve, reject) => {
    const args = ['test', 'rules', join(copy, 'rules.test.yaml')];
    const child = execFile('promtool', args, (error, stdout, stderr) => {
      if (error?.code === 'ENOENT') reject(new Error('promtool is missing: install prometheus'));
      resolve({ code: child.exitCode, output: `${stdout}${stderr}` });
    });
  });
}

// promtool evaluates each minute of the week.
describe('the alert rules', { timeout: 300_000 }, () => {
  it('ring for eight silent failures within two periods, and never in a quiet week', async () => {
    const { code, output } = await promtool(read('rules.yaml'));
    expect(output).toContain('SUCCESS');
    expect([code, alerts.length]).toEqual([0, 8]);
  });

  it('have a test of each alert that fails without it', async () => {
    const others = rules.filter(({ alert }) => alert === undefined);
    const { tests, ...settings } = parse(read('rules.test.yaml')) as { tests: object[] };
    const { code, output } = await promtool(
      stringify({ groups: [{ ...group, rules: others }] }),
      // Without the quiet week, which needs no alert.
      stringify({ ...settings, tests: tests.slice(0, -1) }),
    );
    expect(code).toBe(1);
    for (const alert of alerts) expect(output).toContain(`alertname="${alert}"`);
  });

  it('have a quiet week that fails if an alert rings by night', async () => {
    const condition = /sum\(increase\(paylink_payments_total\{source=~[^\n]* > 0\n/;
    const byNight = read('rules.yaml').replace(condition, 'vector(1)\n');
    const { rules: changed } = (parse(byNight) as typeof parsed).groups[0];
    const only = changed.filter(({ alert }) => alert === 'PaylinkNoNotifications');
    const { tests, ...settings } = parse(read('rules.test.yaml')) as { tests: object[] };
    const { code, output } = await promtool(
      stringify({ groups: [{ ...group, rules: only }] }),
      stringify({ ...settings, tests: tests.slice(-1) }),
    );
    expect(code).toBe(1);
    expect(output).toContain('alertname="PaylinkNoNotifications"');
  });
});

describe('the rules and the dashboard', () => {
  it('read only metrics and labels that the recipes, the rules and the crontab write', async () => {
    const register = new Registry();
    observeIn(register)({ outcome: 'handled', bodyBytes: 1, durationMs: 1 });
    const outcome = {
      source: 'settle',
      outcome: 'credited',
      reference: 'r',
      tenant: null,
    } as const;
    observePaymentsIn(register)({ ...outcome, durationMs: 1 });
    watchUnpaid(register, async () => undefined);
    const metrics = (await register.metrics()).matchAll(/^(paylink_\w+)/gm);
    const [written] = /"(paylink_\w+) \$\(date/.exec(read('rules.yaml')) ?? [];
    const known = new Set([
      ...Array.from(metrics, ([name]) => name),
      ...rules.flatMap(({ record }) => record ?? []),
      written!.slice(1).split(' ')[0]!,
    ]);
    const dashboard = JSON.parse(read('grafana.json')) as {
      panels: { targets: { expr: string }[] }[];
    };
    const expressions = [
      ...rules.map(({ expr }) => expr),
      ...dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)),
    ];
    const used = expressions.flatMap((expr) => expr.match(/\bpaylink[_:][\w:]+/g) ?? []);
    expect(used.length).toBeGreaterThan(20);
    expect([...new Set(used)].filter((name) => !known.has(name))).toEqual([]);
    expect(dashboard.panels).toHaveLength(8);
  });
});
