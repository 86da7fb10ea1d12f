import { createHmac } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { signedDelivery, type SignedDelivery } from '@paylink/testing';
import { begin, closeWires, exchange } from '../adapters/wire.js';
import { install, type Installed } from './install.js';
import { Serving, type Ports } from './serving.js';
import { SECRET, Shop } from './shop.js';
import { bun, deno, nodes, workerd, type Release } from './versions.js';
import { partsOf } from './wire-format.js';

type Command = readonly [executable: string, ...args: string[]];

/** A runtime, and each way to start a server script. */
interface Runtime {
  readonly name: string;
  readonly installed: Installed;
  /** Hosts whose names begin with fetch use the Fetch API. */
  readonly hosts: readonly ('node' | 'express' | `fetch${string}`)[];
  readonly ways: Readonly<Record<string, (executable: string) => Command | Promise<Command>>>;
}

const shop = new Shop();

const DENO_FLAGS = [
  '--node-modules-dir=manual',
  '--no-lock',
  '--no-remote',
  '--allow-net',
  '--allow-env',
  '--allow-read',
];
const onNode = {
  hosts: ['node', 'express'],
  ways: {
    ESM: (executable: string): Command => [executable, 'node.mjs'],
    CJS: (executable: string): Command => [executable, 'node.cjs'],
  },
} as const;
const serveWorker =
  (...flags: string[]) =>
  async (executable: string): Promise<Command> => [
    executable,
    'serve',
    await shop.workerConfig(flags),
    '--control-fd=1',
  ];
const released = async (release: Release) => ({
  name: release.name,
  installed: await install(release),
});

const runtimes: Runtime[] = [
  {
    name: `Node ${process.versions.node} of this run`,
    installed: { executable: process.execPath },
    ...onNode,
  },
];
// In turn, because npm uses a whole core.
for (const release of nodes) runtimes.push({ ...(await released(release)), ...onNode });
runtimes.push(
  {
    ...(await released(bun)),
    hosts: ['node', 'express', 'fetch', 'fetch, by a route', 'fetch, given no server'],
    ways: { ESM: (executable) => [executable, 'bun.mjs'] },
  },
  {
    ...(await released(deno)),
    hosts: ['node', 'express', 'fetch'],
    ways: { ESM: (executable) => [executable, 'run', ...DENO_FLAGS, 'deno.mjs'] },
  },
  {
    ...(await released(workerd)),
    hosts: ['fetch'],
    ways: {
      'without nodejs_compat': serveWorker(),
      'with nodejs_compat': serveWorker('nodejs_compat'),
    },
  },
);

/** Returns a genuine delivery with a body of exactly `length` bytes. */
function deliveryOfSize(length: number): SignedDelivery {
  const ofNote = (note: string): SignedDelivery =>
    signedDelivery({ secret: SECRET, reference: 'order-large', payload: { note } });
  return ofNote('n'.repeat(length - ofNote('').rawBody.length));
}

const large = deliveryOfSize(40_000);
const genuine = signedDelivery({ secret: SECRET });
const marked = signedDelivery({ secret: SECRET, rawBody: `\ufeff${genuine.rawBody.toString()}` });
const flipped = signedDelivery({
  secret: SECRET,
  rawBody: large.rawBody.toString().replace('nn"', 'no"'),
});

/** Each: the case, the delivery, the signature to send, and the reply. */
const refusals: [string, SignedDelivery, string, number, string][] = [
  ['an upper-case signature', genuine, genuine.signature.toUpperCase(), 401, 'invalid_signature'],
  ['a signed body with a byte order mark', marked, marked.signature, 400, 'invalid_payload'],
  ['one changed byte in 40,000', flipped, large.signature, 401, 'invalid_signature'],
];

const ran: string[] = [];

beforeAll(() => {
  shop.install();
}, 180_000);

afterEach(closeWires);

afterAll(() => {
  shop.remove();
  const missing = runtimes
    .filter(({ installed }) => 'missing' in installed)
    .map(({ name }) => name);
  console.log(
    `Runtimes: ${ran.join('; ')}. Skipped, not installed: ${missing.join(', ') || 'none'}.`,
  );
});

describe.each(runtimes.map((runtime) => [runtime.name, runtime] as const))(
  '%s',
  (name, { installed, hosts, ways }) => {
    it('runs on this machine', ({ skip }) => {
      if ('executable' in installed) return;
      if (process.env['CI'] !== undefined)
        throw new Error(`${name} could not be installed: ${installed.missing}`);
      skip(`${name} could not be installed: ${installed.missing}`);
    });

    describe.skipIf('missing' in installed).each(Object.entries(ways))('%s', (way, command) => {
      let serving: Serving;
      let ports: Ports;

      beforeAll(async () => {
        ({ serving, ports } = await Serving.start(
          await command((installed as { executable: string }).executable),
          shop.folder,
        ));
        ran.push(`${name} (${way})`);
      });

      afterAll(() => serving.stop());

      /** Returns the server's answer to one of its checks. */
      async function ask(
        path: string,
        body: string | SignedDelivery = '',
        signature?: string,
      ): Promise<[number, unknown]> {
        const url = `http://127.0.0.1:${ports['core']!}${path}`;
        const init =
          typeof body === 'string'
            ? { method: 'POST', body }
            : {
                method: 'POST',
                body: new Uint8Array(body.rawBody),
                headers: { ...body.headers, 'x-service-signature': signature ?? body.signature },
              };
        const response = await fetch(url, init);
        return [response.status, await response.json()];
      }

      describe.each(hosts)('@paylink/%s', (host) => {
        /** Sends head and body in one packet, as most deliveries arrive. */
        async function deliver(
          delivery: SignedDelivery,
          signature?: string,
        ): Promise<[number, string]> {
          const { head, pieces } = partsOf(delivery, {
            ...(signature !== undefined && { signature }),
          });
          const { status, body } = await exchange(ports[host]!, Buffer.concat([head, ...pieces]));
          return [status, body];
        }

        it('credits a genuine delivery and refuses a forged one', async () => {
          const reference = `order-${host}`;
          expect(await deliver(signedDelivery({ secret: SECRET, reference }))).toEqual([
            200,
            '{"received":true}',
          ]);
          const forged = signedDelivery({
            secret: 'a-secret-of-nobody',
            reference: `forged-${host}`,
          });
          expect(await deliver(forged)).toEqual([401, '{"error":"invalid_signature"}']);
          const [, credited] = await ask('/credited');
          expect(credited).toContain(reference);
          expect(credited).not.toContain(`forged-${host}`);
        });

        it('accepts a delivery from an HTTP client', async () => {
          const response = await signedDelivery({ secret: SECRET }).send(
            `http://127.0.0.1:${ports[host]!}/webhooks/payments`,
          );
          expect([response.status, await response.text()]).toEqual([200, '{"received":true}']);
        });

        it.each(refusals)('refuses %s', async (_, delivery, signature, status, error) => {
          expect(await deliver(delivery, signature)).toEqual([status, JSON.stringify({ error })]);
        });

        it('accepts a body of 40,000 bytes', async () => {
          expect(await deliver(large)).toEqual([200, '{"received":true}']);
        });

        it.each([
          ['after its head', {}],
          ['in pieces', { pieces: 5 }],
          ['in chunks', { pieces: 3, chunked: true }],
        ])('accepts a body that comes %s', async (_, shape) => {
          for (const delivery of [signedDelivery({ secret: SECRET }), large]) {
            const { head, pieces } = partsOf(delivery, shape);
            expect((await exchange(ports[host]!, head, ...pieces)).status).toBe(200);
          }
        });

        // The stream's buffer then holds several pieces, of which Node 26's `read()` returns only
        // the first.
        it('accepts a chunked body that comes in one packet with its head', async () => {
          const { head, pieces } = partsOf(signedDelivery({ secret: SECRET }), {
            pieces: 3,
            chunked: true,
          });
          expect((await exchange(ports[host]!, Buffer.concat([head, ...pieces]))).status).toBe(200);
        });

        it('accepts a body of the limit, which is more than one read of the socket', async () => {
          expect(await deliver(deliveryOfSize(65_536))).toEqual([200, '{"received":true}']);
        });

        it('refuses a body over the limit, declared or counted', async () => {
          const delivery = deliveryOfSize(70_000);
          for (const chunked of [false, true]) {
            const { head, pieces } = partsOf(delivery, { chunked });
            const { status, body } = await exchange(ports[host]!, head, ...pieces);
            expect([status, body]).toEqual([413, '{"error":"body_too_large"}']);
          }
        });

        it('abandons a sender that stops in the middle of the body', async () => {
          const { head, pieces } = partsOf(signedDelivery({ secret: SECRET }), {
            path: '/impatient',
            pieces: 2,
          });
          const { status, body } = await exchange(ports[host]!, head, pieces[0]!);
          expect([status, body]).toEqual([408, '{"error":"body_timeout"}']);
        });

        // Elsewhere a Response cannot close its connection: Deno leaves a refused sender's
        // connection open, and Bun's server unnoticed for ten seconds.
        if (name === bun.name && (host === 'fetch' || host === 'fetch, by a route')) {
          it('releases the sockets and memory of 1,000 slow senders after their 408', async () => {
            const { head, pieces } = partsOf(deliveryOfSize(64_000), { path: '/impatient' });
            const wave = async (): Promise<void> => {
              const slow = await Promise.all(
                Array.from({ length: 250 }, () =>
                  begin(ports[host]!, head, pieces[0]!.subarray(0, 63_999)),
                ),
              );
              for (const { status } of await Promise.all(
                slow.map((wire) => wire.reply('POST', 15_000)),
              ))
                expect(status).toBe(408);
              await Promise.all(slow.map((wire) => wire.closed(15_000)));
            };
            const before = serving.usage();
            await wave();
            const { bytes } = serving.usage();
            for (let count = 0; count < 4; count += 1) await wave();
            await vi.waitFor(
              () => expect(serving.usage().sockets).toBeLessThanOrEqual(before.sockets),
              { timeout: 10_000 },
            );
            // One wave has sent 16 MB, a thousand senders 64 MB.
            await vi.waitFor(() => expect(serving.usage().bytes - bytes).toBeLessThan(48e6), {
              timeout: 10_000,
            });
          }, 60_000);
        }

        it('continues after a sender leaves in the middle of the body', async () => {
          const { head, pieces } = partsOf(
            signedDelivery({ secret: SECRET, reference: `gone-${host}` }),
            { pieces: 2 },
          );
          const wire = await begin(ports[host]!, head, pieces[0]!);
          wire.reset();
          expect(await deliver(signedDelivery({ secret: SECRET }))).toEqual([
            200,
            '{"received":true}',
          ]);
          const [, credited] = await ask('/credited');
          expect(credited).not.toContain(`gone-${host}`);
        });
      });

      // A Worker ends the work of a request with its reply, so no question may wait in another's.
      if (name === workerd.name) {
        it('credits bursts of orders by payments that all requests share', async () => {
          for (const burst of ['first', 'second']) {
            const answers = await Promise.all(
              Array.from({ length: 40 }, (_, index) => ask(`/receive/${burst}-${index}`)),
            );
            expect(answers).toEqual(answers.map(() => [200, 'credited']));
          }
        });
      }

      describe('@paylink/core', () => {
        it('verifies with createVerifier', async () => {
          expect(
            await ask('/verifier', signedDelivery({ secret: SECRET, reference: 'order-core' })),
          ).toEqual([200, 'order-core']);
          expect(await ask('/verifier', large)).toEqual([200, 'order-large']);
        });

        it.each(refusals)(
          'refuses %s with createVerifier',
          async (_, delivery, signature, status, error) => {
            expect(await ask('/verifier', delivery, signature)).toEqual([status, { error }]);
          },
        );

        it('refuses the public secret in production and in an unknown environment', async () => {
          const [status, answer] = await ask('/fixture', '');
          expect(status).toBe(200);
          // This way has an environment without NODE_ENV.
          if (way === 'with nodejs_compat') expect(answer).toBe('accepted');
          else expect(answer).toContain('is the public secret from @paylink/testing');
        });

        it.each([1, 64, 65, 200])(
          'computes the same HMAC as node:crypto with a key of %d bytes',
          async (length) => {
            const secret = Buffer.from(Array.from({ length }, (_, index) => (index * 7 + 1) % 256));
            for (const size of [0, 1, 200, 32_768, 32_769, 40_000]) {
              const rawBody = Buffer.alloc(size, 'payment \xff');
              const signature = createHmac('sha256', secret).update(rawBody).digest('hex');
              const question = { secret: secret.toString('hex'), rawBody: rawBody.toString('hex') };
              expect(await ask('/signature', JSON.stringify({ ...question, signature }))).toEqual([
                200,
                signature,
              ]);
              const other = createHmac('sha256', `${length}`).update(rawBody).digest('hex');
              const refused = [401, { error: 'invalid_signature' }];
              expect(
                await ask('/signature', JSON.stringify({ ...question, signature: other })),
              ).toEqual(refused);
            }
          },
        );
      });

      it('is still running and printed no error', () => {
        // An environment without NODE_ENV counts as production.
        const warnings =
          name === workerd.name && way !== 'with nodejs_compat'
            ? ['[paylink] memoryOrders() is not for production: a restart loses its orders']
            : [];
        expect([serving.alive, serving.complaints()]).toEqual([true, warnings]);
      });
    });
  },
);
