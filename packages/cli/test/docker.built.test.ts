/** Runs the commands of examples/docker/compose.yaml with their environment and host names. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { get } from 'node:http';
import { connect, createServer, type AddressInfo } from 'node:net';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseEnv } from 'node:util';
import { parse } from 'yaml';
import { expect, it, onTestFinished } from 'vitest';
import { startPostgres } from '../../../test/servers/postgres.js';
import { freePort } from '../../../test/servers/starting.js';
import { COMMAND, paylinkProcess } from './paylink.js';

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

interface Service {
  readonly image: string;
  readonly command?: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly ports?: readonly string[];
}

const SERVER = `const express = require('express');
const { checkout } = require('./checkout');
const { paymentRoutes } = require('./payment-webhook');
const app = express();
app.use(paymentRoutes);
app.post('/checkout', async (req, res) => res.json(await checkout(15_000)));
app.listen(3000, () => console.log('ready'));
`;

/** The address of a container, other than loopback if the machine has one. */
function containerAddress(): string {
  const all = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  return all.find(({ internal, family }) => !internal && family === 'IPv4')?.address ?? '127.0.0.2';
}

it('the Docker example credits a payment between containers whose names do not resolve to loopback', async () => {
  const database = await startPostgres({ fsync: 'off' });
  onTestFinished(() => database.close());
  const ports = new Map([
    ['3000', await freePort()],
    ['4010', await freePort()],
    ['5432', database.port],
  ]);
  const withPorts = (text: string): string =>
    text.replace(/\b(?:3000|4010|5432)\b/g, (port) => `${ports.get(port)!}`);

  const folder = await mkdtemp(join(tmpdir(), 'paylink-docker-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await symlink(at('../../../test/node_modules'), join(folder, 'node_modules'));
  const dependencies = { express: '5', pg: '8' };
  await writeFile(join(folder, 'package.json'), JSON.stringify({ dependencies }));
  expect((await paylinkProcess(['init'], { cwd: folder })).code).toBe(0);
  await writeFile(join(folder, 'server.js'), withPorts(SERVER));
  // The line of the page.
  const guide = await readFile(at('../../../docs/docker.md'), 'utf8');
  const line = /^ *allowHttp: .*$/m.exec(guide)![0];
  const payments = await readFile(join(folder, 'payments.js'), 'utf8');
  await writeFile(join(folder, 'payments.js'), payments.replace(/^ *apiKey: .*$/m, `$&\n${line}`));

  const secrets = parseEnv(await readFile(join(folder, '.env'), 'utf8'));
  const file = await readFile(at('../../../examples/docker/compose.yaml'), 'utf8');
  const filled = withPorts(file).replace(
    /\$\{(\w+):\?[^}]*\}/g,
    (_, name: string) => secrets[name]!,
  );
  const { services } = parse(filled, { merge: true }) as { services: Record<string, Service> };
  const address = containerAddress();
  const addresses = { emulator: address, shop: address, db: '127.0.0.1' };
  expect(Object.keys(services)).toEqual(Object.keys(addresses));

  const up = (name: string): { until(pattern: RegExp): Promise<string> } => {
    const { command, environment } = services[name]!;
    const said = command!.replaceAll('npx --no-install paylink', `node ${COMMAND}`);
    const child = spawn('sh', ['-c', said], {
      cwd: folder,
      detached: true,
      env: {
        PATH: process.env['PATH'],
        NODE_OPTIONS: `--import=${new URL('./docker-names.mjs', import.meta.url).href}`,
        TEST_ADDRESSES: JSON.stringify(addresses),
        ...environment,
      } as unknown as NodeJS.ProcessEnv,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    onTestFinished(() => void process.kill(-child.pid!));
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
    const closed = once(child, 'close');
    return {
      async until(pattern) {
        while (!pattern.test(output)) {
          if (child.exitCode !== null) throw new Error(`${name} ended: ${output}`);
          await Promise.race([once(child.stdout, 'data'), closed]);
        }
        return output;
      },
    };
  };

  const emulator = up('emulator');
  const port = ports.get('4010')!;
  const printed = await emulator.until(/Ctrl-C/);
  expect(printed).toContain(`http://emulator:${port}/api`);
  expect(printed).toContain(`http://localhost:${port}/link/<token>`);
  await publish(services['emulator']!, address);
  await up('shop').until(/ready/);

  const shop = `http://127.0.0.1:${ports.get('3000')}`;
  const order = (await (await fetch(`${shop}/checkout`, { method: 'POST' })).json()) as {
    readonly reference: string;
    readonly url: string;
  };
  expect(order.url).toMatch(new RegExp(`^http://localhost:${port}/link/`));
  expect(await statusOf(order.url)).toBe(200);
  const paid = ['pay', order.reference, '--base-url', `http://localhost:${port}/api`];
  expect(await paylinkProcess(paid, { cwd: folder })).toMatchObject({ code: 0 });
  await emulator.until(new RegExp(`${order.reference} → 200`));
  const page = await fetch(`${shop}/payments/${order.reference}`);
  expect(await page.json()).toEqual({ status: 'paid' });
});

/** Forwards a container's published ports from this machine only, as Docker does. */
async function publish({ ports = [] }: Service, address: string): Promise<void> {
  for (const published of ports) {
    const [, host, outer, inner] = /^([\d.]+):(\d+):(\d+)$/.exec(published)!;
    const server = createServer((socket) => {
      const target = connect(Number(inner), address);
      socket.on('error', () => target.destroy()).pipe(target);
      target.on('error', () => socket.destroy()).pipe(socket);
    });
    await new Promise<void>((resolve) => server.listen(Number(outer), host, resolve));
    expect((server.address() as AddressInfo).address).toBe('127.0.0.1');
    onTestFinished(() => void server.close());
  }
}

function statusOf(url: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    get(url, { family: 4 }, (reply) => resolve(reply.resume().statusCode)).once('error', reject);
  });
}
