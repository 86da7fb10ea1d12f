/** Projects that `paylink init` writes, run by the printed lines. */
import { exec, spawn } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { linkPackages } from '../../../test/init/packages.js';
import { freePort } from '../../../test/servers/starting.js';
import { newFolder, paylinkProcess, start } from './paylink.js';

vi.setConfig({ testTimeout: 120_000 });

/** Runs the printed line of `init` for a file. */
async function runPrinted(
  stdout: string,
  cwd: string,
  env: Readonly<Record<string, string>> = {},
  file = 'webhook.(?:test|spec)',
): Promise<string> {
  const line = new RegExp(`^ {2}((?:node|npx) .*${file}.*)$`, 'm').exec(stdout)![1]!;
  const environment = { PATH: process.env['PATH'], HOME: newFolder(), TMPDIR: newFolder(), ...env };
  const said = await promisify(exec)(line, {
    cwd,
    env: environment as unknown as NodeJS.ProcessEnv,
  });
  return said.stdout + said.stderr;
}

async function project(
  manifest: object,
  files: Readonly<Record<string, string>> = {},
): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'paylink-init-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await linkPackages(folder);
  await writeFiles(folder, manifest, files);
  return folder;
}

async function writeFiles(
  folder: string,
  manifest: object,
  files: Readonly<Record<string, string>>,
): Promise<void> {
  for (const [path, content] of Object.entries({
    'package.json': `${JSON.stringify(manifest, undefined, 2)}\n`,
    ...files,
  })) {
    await mkdir(join(folder, path, '..'), { recursive: true });
    await writeFile(join(folder, path), content);
  }
}

const inFolder = (folder: string, args: string[] = []) =>
  paylinkProcess(['init', ...args], { cwd: folder });

describe('paylink init', () => {
  it('writes a test on PostgreSQL that refuses to run without a database of its own', async () => {
    const folder = await project({ dependencies: { express: '5', pg: '8' } });
    const { stdout } = await inFolder(folder);
    await writeFile(join(folder, '.env'), 'DATABASE_URL=postgres://127.0.0.1:1/none\n');
    await expect(runPrinted(stdout, folder)).rejects.toMatchObject({
      stdout: expect.stringContaining('set TEST_DATABASE_URL') as string,
    });
  });

  it('leads to the first credit if you follow its printed lines', async () => {
    const port = await freePort();
    const folder = await project(
      { dependencies: { express: '5', libsql: '*' }, scripts: { dev: 'node server.js' } },
      { '.env': 'PAYLINK_BASE_URL=http://127.0.0.1:4010/api\n' },
    );
    const server = `const express = require('express');
const { checkout } = require('./checkout');
const { paymentRoutes } = require('./payment-webhook');
const app = express();
app.use(paymentRoutes);
app.use(express.json());
app.post('/checkout', async (req, res) => res.json(await checkout(15_000)));
app.listen(${port}, () => console.log('ready'));
`;
    await writeFile(join(folder, 'server.js'), server);
    const { stdout } = await inFolder(folder, ['--shop-url', `http://localhost:${port}`]);
    expect(stdout).toContain("  const { paymentRoutes } = require('./payment-webhook');\n");
    expect(stdout).toContain('  app.use(paymentRoutes);');
    await runPrinted(stdout, folder, {}, 'create-orders-table');

    const { scripts } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as {
      scripts: { payments: string };
    };
    const emulate = scripts.payments.replace(/^paylink /, '').split(' ');
    expect(emulate).toContain(`http://localhost:${port}/webhooks/payments`);
    const emulator = start([...emulate, '--port', '0'], {}, folder);
    const [, api] = await emulator.until(/API +(http\S+)/);

    const dotenv = await readFile(join(folder, '.env'), 'utf8');
    await writeFile(join(folder, '.env'), dotenv.replace('http://127.0.0.1:4010/api', api!));
    const environment = { PATH: process.env['PATH'] } as unknown as NodeJS.ProcessEnv;
    const shop = spawn('npm', ['run', 'dev'], { cwd: folder, env: environment, detached: true });
    onTestFinished(() => void process.kill(-shop.pid!));
    let said = '';
    for await (const chunk of shop.stdout) if ((said += String(chunk)).includes('ready')) break;
    expect(said).toContain('ready');

    const json = async (path: string, init?: RequestInit): Promise<unknown> =>
      (await fetch(`http://127.0.0.1:${port}${path}`, init)).json();
    const order = (await json('/checkout', { method: 'POST' })) as { reference: string };
    const { code } = await paylinkProcess(['pay', order.reference, '--dotenv', '.env'], {
      cwd: folder,
    });
    expect(code).toBe(0);
    await emulator.until(new RegExp(`${order.reference} → 200`));
    expect(await json(`/payments/${order.reference}`)).toEqual({ status: 'paid' });
    const explained = await paylinkProcess(
      ['explain', order.reference, '--module', 'payments.js', '--dotenv', '.env'],
      { cwd: folder },
    );
    expect(explained).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('acts next    nobody') as string,
    });
  });
});
