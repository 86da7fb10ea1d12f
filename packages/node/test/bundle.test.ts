import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { signedDelivery, TEST_SECRET } from '@paylink/testing';
import { build } from 'esbuild';
import { expect, it, onTestFinished } from 'vitest';
import { SOURCE } from '../../../scripts/source.mjs';

// Inside the package, so that the build finds the package's dependencies.
const PACKAGE = fileURLToPath(new URL('..', import.meta.url));

const APP = `
  import { createServer } from 'node:http';
  import { paymentWebhook } from './src/index.ts';
  const webhook = paymentWebhook({ secret: '${TEST_SECRET}' }, () => undefined);
  const server = createServer(webhook).listen(0, '127.0.0.1', () => console.log(server.address().port));
`;

it.each([
  ['esm', 'mjs'],
  ['cjs', 'cjs'],
] as const)('starts and serves in a bundle that esbuild made as %s', async (format, extension) => {
  const folder = mkdtempSync(`${tmpdir()}/paylink-bundle-`);
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const outfile = `${folder}/bundle.${extension}`;
  // raw-body is CommonJS and requires modules of Node, for which esbuild needs this in ESM.
  const js = `import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);`;
  const banner = format === 'esm' ? { js } : {};
  await build({
    ...{ bundle: true, platform: 'node', format, outfile, banner, conditions: [SOURCE] },
    stdin: { contents: APP, resolveDir: PACKAGE },
  });

  const child = spawn(process.execPath, [outfile], { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill());
  const [port] = (await once(createInterface(child.stdout), 'line')) as [string];
  const url = `http://127.0.0.1:${port}/`;
  expect((await signedDelivery().send(url)).status).toBe(200);
  // In pieces of one byte.
  const { headers, rawBody } = signedDelivery();
  const pieces = [...rawBody].map((byte) => Uint8Array.of(byte));
  const body = new ReadableStream({
    async pull(controller) {
      const piece = pieces.shift();
      if (piece === undefined) controller.close();
      else controller.enqueue(piece);
      await new Promise((resolve) => setTimeout(resolve, 1));
    },
  });
  const response = await fetch(url, { method: 'POST', headers, body, duplex: 'half' });
  expect([response.status, await response.text()]).toEqual([200, '{"received":true}']);
});
