/** Runs the judges in other languages against two receivers. */
import { execFile, execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { paymentWebhook } from '@paylink/node';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { attackData } from '../../packages/testing/src/attacks/data.js';

const judges = fileURLToPath(new URL('../../packages/testing/judges/', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'paylink-judges-'));
afterAll(() => rmSync(folder, { recursive: true }));

const data = attackData();
const file = join(folder, 'attacks.json');
writeFileSync(file, JSON.stringify(data));

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhooks/payments`;
}

/** Says that a runtime is missing, which is a failure in CI. */
function isMissing(runtime: string): boolean {
  if (process.env['CI'] !== undefined) return false;
  const { error } = spawnSync(runtime, ['--help'], { stdio: 'ignore' });
  return error !== undefined;
}

const SILENT = { warn: () => undefined, error: () => undefined };

const judge = (command: string, args: readonly string[], url: string) =>
  new Promise<{ code: number; output: string }>((resolve) => {
    const child = execFile(command, [...args, file, url], (_error, output) =>
      resolve({ code: child.exitCode ?? -1, output }),
    );
  });

describe('the attacks as data', () => {
  it('have a body, a reason and the classes of harmless answers each', () => {
    expect(data.attacks.length).toBeGreaterThan(180);
    for (const { id, class: kind, expected, why, body } of data.attacks) {
      expect(expected.includes('2xx') || kind !== 'genuine').toBe(true);
      expect(expected.every((each) => each !== '2xx') || kind !== 'forged').toBe(true);
      expect(why).toMatch(/^\S.{20,}\.$/);
      expect(why.endsWith('not a fault.')).toBe(['A03', 'A04', 'D14'].includes(id));
      expect(Buffer.from(body, 'base64').toString('base64')).toBe(body);
    }
  });
});

describe.each([
  ['Python', 'python3', () => ['python3', [join(judges, 'judge.py')]] as const],
  ['PHP', 'php', () => ['php', [join(judges, 'judge.php')]] as const],
  [
    'Go',
    'go',
    () => {
      const program = join(folder, 'judge');
      execFileSync('go', ['build', '-o', program, join(judges, 'judge.go')]);
      return [program, []] as const;
    },
  ],
])('the judge in %s', (_, runtime, prepare) => {
  it('finds no harm in a receiver of Paylink, and names each that verifies nothing', async ({
    skip,
  }) => {
    if (isMissing(runtime)) skip(`${runtime} is not installed`);
    const [command, args] = prepare();
    const right = await serve(
      paymentWebhook({ secret: data.secret, logger: SILENT }, async () => undefined),
    );
    expect(await judge(command, args, right)).toEqual({
      code: 0,
      output: `${data.attacks.length} attacks, 0 answers do harm\n`,
    });
    const credulous = await serve((req, res) => void req.resume().on('end', () => res.end()));
    const { code, output } = await judge(command, args, credulous);
    const missed = data.attacks.filter(({ expected }) => !expected.includes('2xx'));
    expect(code).toBe(1);
    expect(output.trim().split('\n')).toEqual([
      ...missed.map(({ name, why }) => `${name}: got 2xx. ${why}`),
      `${data.attacks.length} attacks, ${missed.length} answers do harm`,
    ]);
  }, 120_000);
});
