/**
 * Sends the same bytes to every host. Status and body must agree. `PAYLINK_DIFFERENTIAL=10000` for
 * the long run, and `PAYLINK_SEED=…` to repeat a failure. examples/next runs it on Next.js.
 */
import { randomInt } from 'node:crypto';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { LIMIT, piecesOf, requests, type GeneratedRequest } from './generated-requests.js';
import { hosts } from './hosts/index.js';
import { lambda } from './hosts/lambda.js';
import { nestHosts } from './hosts/nest.js';
import { FASTIFY_REFUSAL, serve } from './serving.js';
import { exchange } from './wire.js';

const runs = Number(process.env['PAYLINK_DIFFERENTIAL'] ?? 400);
const seed = Number(process.env['PAYLINK_SEED'] ?? randomInt(2 ** 31));

/**
 * Matches the exceptions in docs/errors.md for hosts that have the whole body before the adapter.
 */
function isHostsOwn(request: GeneratedRequest, { host, status, body }: Reply): boolean {
  const isNest = host.startsWith('NestJS');
  if (!isNest && host !== lambda.name) return false;
  // Node refuses wrong framing before these hosts see the request.
  if (request.framing.includes('than it is') && status === 400 && body === '') return true;
  const { statusCode } = (parsed(body) ?? {}) as { readonly statusCode?: unknown };
  return (
    isNest && statusCode === status && [400, 413, 415].includes(status) && !isReadByNest(request)
  );
}

/** Nest's parser runs before guards, and answers unreadable bodies itself. */
function isReadByNest({ body, lines, contentType, framing }: GeneratedRequest): boolean {
  const isCompressed = lines.some(
    ([name, value]) => name === 'Content-Encoding' && value !== 'identity',
  );
  if (isCompressed || framing.includes('than it is')) return false;
  // The parser refuses a JSON primitive, and a body that might change a prototype.
  if (contentType === 'application/json')
    return isObject(parsed(body.toString())) && !/__proto__|constructor/.test(body.toString());
  return contentType === null || contentType === 'text/plain';
}

interface Reply {
  readonly host: string;
  readonly status: number;
  readonly body: string;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null;
}

it(`every host gives the same status and body to ${runs} requests (seed ${seed})`, async () => {
  const servers = await Promise.all(
    [...hosts, lambda, ...nestHosts].map((host) => serve(host, { options: { bodyLimit: LIMIT } })),
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
