/** Lints examples/docker/emulator.Dockerfile, and runs its commands as a container would. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createClient } from '@paylink/client';
import { createVerifier, type WebhookEvent } from '@paylink/core';
import { validate } from 'dockerfile-utils';
import { expect, it, onTestFinished } from 'vitest';
import { freePort } from '../../../test/servers/starting.js';
import { API_KEY, COMMAND, paylink, SECRET } from './paylink.js';

const file = await readFile(
  new URL('../../../examples/docker/emulator.Dockerfile', import.meta.url),
  'utf8',
);

/** Returns the words of an instruction in its exec form. */
function wordsOf(instruction: string): string[] {
  const [, words] = new RegExp(`^${instruction}.*? (\\[.*\\])$`, 'm').exec(file)!;
  return JSON.parse(words!) as string[];
}

it('The image of the emulator has twelve lines, and a linter finds no fault', () => {
  expect(file.trimEnd().split('\n')).toHaveLength(12);
  expect(validate(file)).toEqual([]);
  expect(validate('FROM node:22\nRUNN x')).not.toEqual([]);
});

it('The image of the emulator is healthy once it serves, and notifies a shop on the host', async () => {
  const delivered: WebhookEvent[] = [];
  const { verify } = createVerifier({ secret: SECRET });
  const shop = createServer(async (req, res) => {
    const pieces: Buffer[] = [];
    for await (const piece of req) pieces.push(piece as Buffer);
    delivered.push(await verify(Buffer.concat(pieces), req.headers));
    res.end();
  }).listen(0, '127.0.0.1');
  await once(shop, 'listening');
  onTestFinished(() => void shop.close());
  const emulatorPort = await freePort();
  const shopPort = (shop.address() as AddressInfo).port;
  const asHere = (word: string): string =>
    word.replace(/\b4010\b/g, `${emulatorPort}`).replace(/\b3000\b/g, `${shopPort}`);
  const env = {
    PATH: process.env['PATH'],
    NODE_OPTIONS: `--import=${new URL('./docker-names.mjs', import.meta.url).href}`,
    TEST_ADDRESSES: '{"host.docker.internal":"127.0.0.1"}',
    PAYLINK_API_KEY: API_KEY,
    WEBHOOK_SECRET: SECRET,
  } as unknown as NodeJS.ProcessEnv;
  const health = async (): Promise<unknown> => {
    const [node, ...args] = wordsOf('HEALTHCHECK').map(asHere);
    expect(node).toBe('node');
    return (await once(spawn(process.execPath, args, { env }), 'close'))[0] as unknown;
  };

  expect(await health()).toBe(1);
  const started = [...wordsOf('ENTRYPOINT'), ...wordsOf('CMD')].map(asHere);
  expect(started.slice(0, 3)).toEqual(['npx', '--no-install', 'paylink']);
  const child = spawn(process.execPath, [COMMAND, ...started.slice(3)], { env });
  onTestFinished(() => void child.kill());
  let printed = '';
  while (!printed.includes('Ctrl-C'))
    printed += ((await once(child.stdout, 'data')) as [Buffer])[0].toString();
  expect(await health()).toBe(0);

  const baseUrl = `http://127.0.0.1:${emulatorPort}/api`;
  const client = createClient({ baseUrl, apiKey: API_KEY });
  const link = await client.createPaymentLink({ amount: 15_000, reference: 'order-42' });
  expect(link.url).toContain(`http://localhost:${emulatorPort}/link/`);
  const paid = ['pay', 'order-42', '--base-url', baseUrl];
  expect(await paylink(paid, { env: { PAYLINK_API_KEY: API_KEY } })).toMatchObject({ code: 0 });
  await expect.poll(() => delivered.map(({ reference }) => reference)).toEqual(['order-42']);
});
