/**
 * Sends the same bytes to every host. Status and body must agree. `pnpm lab full-size` sends more
 * requests, and `PAYLINK_SEED=…` repeats a failure. examples/next runs it on Next.js.
 */
import { randomInt } from 'node:crypto';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { LIMIT, piecesOf, requests, type GeneratedRequest } from './generated-requests.js';
import { gateHosts, handlerHosts } from './hosts/index.js';
import { lambda } from './hosts/lambda.js';
import { FASTIFY_REFUSAL, serve } from './serving.js';
import { exchange } from './wire.js';

const runs = Number(process.env['PAYLINK_DIFFERENTIAL'] ?? 100);
const seed = Number(process.env['PAYLINK_SEED'] ?? randomInt(2 ** 31));

/** Node refuses wrong framing before Lambda's function sees the request. */
function isHostsOwn({ framing }: GeneratedRequest, { host, status, body }: Reply): boolean {
  return host === lambda.name && framing.includes('than it is') && status === 400 && body === '';
}

interface Reply {
  readonly host: string;
  readonly status: number;
  readonly body: string;
}

it(`every host gives the same status and body to ${runs} requests (seed ${seed})`, async () => {
  const servers = await Promise.all(
    [...handlerHosts, ...gateHosts, lambda].map((host) =>
      serve(host, { options: { bodyLimit: LIMIT } }),
    ),
  );
  const seen = new Map<number, number>();
  await fc.assert(
    fc.asyncProperty(requests, async (request) => {
      const pieces = piecesOf(request);
      const replies = await Promise.all(
        servers.map(async ({ host, port }) => {
          const { status, body, wire } = await exchange(port, ...pieces);
          wire.reset();
          // Fastify rewords the refusals of Node's HTTP parser.
          return { host: host.name, status, body: body.replace(FASTIFY_REFUSAL, '') };
        }),
      );
      const [first] = replies;
      seen.set(first!.status, (seen.get(first!.status) ?? 0) + 1);
      for (const reply of replies) {
        if (!isHostsOwn(request, reply)) expect(reply).toEqual({ ...first, host: reply.host });
      }
    }),
    { numRuns: runs, seed },
  );
  // Otherwise the requests were not varied enough.
  expect([...seen.keys()].sort()).toEqual(expect.arrayContaining([200, 400, 401, 413, 415]));
}, 1_800_000);
