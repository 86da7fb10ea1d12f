/**
 * A genuine body reaches the webhook whole, in any pieces, over any transport, behind code
 * that waits. CI runs a few forms on every runtime, and `pnpm lab full-size` runs all.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bundleScript, type Bundle } from '../servers/bundle.js';
import { install } from './install.js';
import { Serving, type Ports } from './serving.js';
import { deliver, endSessions, FRONTS, formsOf, TRANSPORTS } from './transports.js';
import type { Front, Transport } from './transports.js';
import { bun, deno, nodes, type Release } from './versions.js';

const isWhole = process.env['PAYLINK_TRANSPORTS'] === 'all';
const forms = isWhole ? formsOf([1, 2, 3, 9, 30]) : formsOf([3]);
const transports = isWhole ? TRANSPORTS : (['TCP', 'HTTP/2'] as const);

const HOSTS = [
  'node:http',
  'Express',
  'Koa',
  'Fastify',
  'Hono',
  'NestJS on Express',
  'NestJS on Fastify',
];
const FLAGS: Readonly<Record<string, readonly string[]>> = {
  [deno.name]: ['run', '--node-modules-dir=manual', '--no-lock', '--allow-all'],
};

let script: Bundle;
const folder = mkdtempSync(join(tmpdir(), 'paylink-transports-'));
const tls = [join(folder, 'key.pem'), join(folder, 'cert.pem')] as const;

beforeAll(async () => {
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', tls[0]];
  const subject = ['-subj', '/CN=localhost', '-days', '2', '-out', tls[1]];
  execFileSync('openssl', ['req', '-x509', ...key, ...subject], { stdio: 'pipe' });
  script = await bundleScript(new URL('serve-transports.ts', import.meta.url));
}, 60_000);
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await script.remove();
});

describe.each([...nodes, bun, deno])('$name', { tags: ['R01', 'R09'] }, (release: Release) => {
  let serving: Serving;
  let ports: Ports;

  beforeAll(async () => {
    const runtime = await install(release);
    if ('missing' in runtime) throw new Error(runtime.missing);
    const command = [runtime.executable, ...(FLAGS[release.name] ?? []), script.path, ...tls];
    const cwd = fileURLToPath(new URL('.', import.meta.url));
    ({ serving, ports } = await Serving.start(command as [string, ...string[]], cwd));
  }, 300_000);
  afterAll(async () => {
    await serving.stop();
    endSessions();
  });

  const ways = HOSTS.flatMap((host) =>
    FRONTS.flatMap((front) =>
      front.startsWith('a hook') && host !== 'Fastify'
        ? []
        : transports
            .filter((transport) => !(host.endsWith('Express') && transport.startsWith('HTTP/2')))
            .map((transport): [string, Transport, Front] => [host, transport, front]),
    ),
  );

  it.each(ways)('reads each body on %s over %s behind %s', async (host, transport, front) => {
    const port = ports[`${host} ${transport}`]!;
    const path = `/${FRONTS.indexOf(front)}`;
    const lost = await Promise.all(
      forms.map(async (form) => {
        const status = await deliver(port, transport, path, form).catch(String);
        return status === 200 ? [] : `${form.name}: ${status}`;
      }),
    );
    expect(serving.alive ? [] : serving.complaints(), 'the runtime ended').toEqual([]);
    expect(lost.flat()).toEqual([]);
  });
});
