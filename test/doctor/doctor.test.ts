/** Runs `paylink doctor` against an app on every framework, and checks each sentence. */
import 'reflect-metadata';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { run } from '../../packages/cli/src/program.js';
import { PATH, SECRET } from '../adapters/deliveries.js';
import { express5Gate } from '../adapters/hosts/express.js';
import type { Host } from '../adapters/hosts/host.js';
import { oneOfEach } from '../adapters/hosts/index.js';
import { lambda } from '../adapters/hosts/lambda.js';
import { nestExpress, nestFastify } from '../adapters/hosts/nest.js';
import { serve, type Circumstances } from '../adapters/serving.js';

const UUID = /^[0-9a-f]{8}-/;

type Verdicts = Readonly<Record<string, readonly [ok: boolean | null, message: string]>>;

async function start(host: Host, circumstances?: Circumstances) {
  // A server of its own, because its close ends the idle connections of `fetch`.
  const serving = await serve(host, { options: {}, ...circumstances });
  return { ...serving, url: `http://127.0.0.1:${serving.port}${PATH}` };
}

/**
 * Runs the command in this process, because processes start slowly. packages/cli/test runs real
 * ones.
 */
async function doctor(
  url: string,
  args: readonly string[] = [],
  secret = SECRET,
): Promise<Verdicts> {
  vi.stubEnv('WEBHOOK_SECRET', secret);
  const written: string[] = [];
  const stdout = vi
    .spyOn(process.stdout, 'write')
    .mockImplementation((text) => written.push(String(text)) > 0);
  const { exitCode } = process;
  try {
    await run(['doctor', '--to', url, '--json', ...args]);
  } finally {
    stdout.mockRestore();
    vi.unstubAllEnvs();
    process.exitCode = exitCode;
  }
  const { checks } = JSON.parse(written.join('')) as {
    checks: readonly { name: string; ok: boolean | null; message: string }[];
  };
  return Object.fromEntries(checks.map(({ name, ok, message }) => [name, [ok, message]]));
}

const failed = (verdicts: Verdicts): string[] =>
  Object.keys(verdicts).filter((name) => verdicts[name]![0] === false);

/** A proxy that rewrites the JSON. */
async function rewritingProxyTo(url: string): Promise<string> {
  const server = createServer(async (req, res) => {
    const body = JSON.stringify(await json(req));
    const names = Object.entries(req.headers).filter(([name]) =>
      /^(x-service-|content-type)/.test(name),
    );
    const headers = Object.fromEntries(names) as Record<string, string>;
    const answer = await fetch(url, { method: 'POST', headers, body });
    res.writeHead(answer.status).end(await answer.text());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

const hosts: readonly Host[] = [...oneOfEach, express5Gate, nestExpress, nestFastify, lambda];

describe.each(hosts.map((host) => [host.name, host] as const))('on %s', (_, host) => {
  it('passes every check of a correct app and names no order that exists', async () => {
    const { url, events } = await start(host);
    const verdicts = await doctor(url);
    expect(failed(verdicts)).toEqual([]);
    expect(Object.keys(verdicts)).toEqual([
      'route',
      'method',
      'bad signature',
      'secret',
      'body',
      'unknown order',
      'credit',
    ]);
    expect(verdicts['credit']).toEqual([null, expect.stringMatching(/not checked: --deliver/)]);
    expect(events.map(({ reference }) => reference)).toEqual([expect.stringMatching(UUID)]);
  });

  it('names a wrong secret, and a proxy that re-serialises the JSON', async () => {
    const { url } = await start(host);
    const proxied = await rewritingProxyTo(url);
    const other = await doctor(url, [], 'another-secret-of-a-portal');
    const rewritten = await doctor(proxied);
    expect(failed(other)).toEqual(['secret']);
    expect(other['secret']![1]).toMatch(/compare the secrets/);
    expect(failed(rewritten)).toEqual(['body']);
    expect(rewritten['body']![1]).toMatch(/a parser or a proxy rewrites the JSON/);
  });

  it('delivers only the order of --deliver', async () => {
    const { url, events } = await start(host);
    const verdicts = await doctor(url, ['--deliver', 'order-42']);
    expect(verdicts['credit']).toEqual([true, 'payment.succeeded is acknowledged']);
    expect(events.map(({ type, reference }) => [type, reference])).toEqual([
      ['payment.succeeded', expect.stringMatching(UUID)],
      ['payment.succeeded', 'order-42'],
    ]);
  });
});

const parsed = hosts.flatMap((host) =>
  host.capabilities.surroundings
    .filter((each) => each === 'a JSON parser')
    .map((each) => [host.name, host, each] as const),
);

it.each(parsed)(
  'paylink doctor names a body parser in front of the webhook on %s',
  async (_, host, surroundings) => {
    const { url } = await start(host, { surroundings, afterwards: 500 });
    const verdicts = await doctor(url);
    expect(failed(verdicts)).toEqual(['parser']);
    expect(verdicts['parser']![1]).toMatch(/A body parser reads the body before the webhook/);
  },
);
