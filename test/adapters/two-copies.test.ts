import { once } from 'node:events';
import {
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import Module from 'node:module';
import { fileURLToPath } from 'node:url';
import { createGate, webhookEvent } from '@paylink/core';
import * as modules from '@paylink/node';
import { signedDelivery } from '@paylink/testing';
import { buildSync } from 'esbuild';
import { describe, expect, it, onTestFinished } from 'vitest';
import { SOURCE } from '../../scripts/source.mjs';
import { listening } from './hosts/host.js';

const imported = { ...modules, createGate, webhookEvent };
type Copy = typeof imported;

/** The packages from `require`, besides those from `import`. */
function requiredCopy(): Copy {
  const { outputFiles } = buildSync({
    stdin: {
      contents: `export * from '@paylink/node'; export { createGate, webhookEvent } from '@paylink/core';`,
      resolveDir: fileURLToPath(new URL('.', import.meta.url)),
    },
    absWorkingDir: fileURLToPath(new URL('.', import.meta.url)),
    bundle: true,
    write: false,
    format: 'cjs',
    platform: 'node',
    conditions: [SOURCE],
  });
  const copy = new Module(import.meta.filename) as Module & {
    _compile(code: string, filename: string): void;
  };
  copy._compile(outputFiles[0]!.text, import.meta.filename);
  return copy.exports as Copy;
}

const common = requiredCopy();
const SECRET = 'a-secret-for-the-two-copies';

describe('two copies of the packages in one process', () => {
  it('share the event that one gate verified', { tags: 'O15' }, async () => {
    for (const [gateOf, readerOf] of [
      [common, imported],
      [imported, common],
    ] as const) {
      const gate = gateOf.createGate({ secret: SECRET });
      const server = createServer((req, res) => {
        const delivery = gateOf.deliveryOf(req);
        void gate
          .admit(delivery, {}, req)
          .then(() => res.end(readerOf.webhookEvent(req).reference));
      });
      onTestFinished(() => void server.close());
      const { port } = await listening(server);
      const delivery = signedDelivery({ secret: SECRET, reference: 'order-1' });
      expect(await (await delivery.send(`http://127.0.0.1:${port}/`)).text()).toBe('order-1');
    }
  });

  it('do not both read a body that has not arrived yet', { tags: ['F21', 'K01'] }, async () => {
    const credited: string[] = [];
    const told: string[] = [];
    const options = {
      secret: SECRET,
      logger: { warn: () => undefined, error: (line: string) => void told.push(line) },
    };
    const webhooks = [modules, common].map((copy) =>
      copy.paymentWebhook(options, ({ reference }) => void credited.push(reference)),
    );
    let received = 0;
    const both = (req: IncomingMessage, res: ServerResponse): void => {
      for (const webhook of webhooks) void webhook(req, res);
      received += 1;
    };
    const server = createServer(both);
    const { port } = await listening(server);

    const { rawBody, headers } = signedDelivery({ secret: SECRET, reference: 'order-1' });
    const request = httpRequest({
      port,
      method: 'POST',
      headers: { ...headers, 'content-length': rawBody.length },
    });
    // One copy refuses at once. The other finds the response begun, and breaks it off if it fails.
    const answered = once(request, 'response').then(
      ([response]) => (response as IncomingMessage).statusCode,
      () => 'broken off',
    );
    request.flushHeaders();
    // Both copies have seen the request before the body arrives.
    await expect.poll(() => received).toBe(1);
    request.on('error', () => undefined).end(rawBody);
    expect([500, 'broken off']).toContain(await answered);
    expect(told[0]).toContain('body_consumed');
    // A second reader would have the body by then.
    await once(server.close(), 'close');
    expect(credited.length).toBeLessThanOrEqual(1);
  });
});
