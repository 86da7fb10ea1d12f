/**
 * The differential test of test/adapters on Next.js: what it generates, to a built application and
 * to node:http.
 */
import { randomInt } from 'node:crypto';
import fc from 'fast-check';
import { expect } from 'vitest';
import { SECRET } from '../../../test/adapters/deliveries.js';
import {
  LIMIT,
  piecesOf,
  requests,
  type GeneratedRequest,
} from '../../../test/adapters/generated-requests.js';
import { nodeHttp } from '../../../test/adapters/hosts/node.js';
import { exchange } from '../../../test/adapters/wire.js';

/** Routes of every router with a limit of their own. */
export function limitedRoutes(folder: string, limit: number): Readonly<Record<string, string>> {
  const options = `{ secret: process.env.WEBHOOK_SECRET, bodyLimit: ${limit} }`;
  const handler = "({ reference }) => console.log('credited', reference)";
  const app = `
    import { paymentWebhook } from '@paylink/next';
    export const POST = paymentWebhook(${options}, ${handler});
  `;
  return {
    [`app/api/${folder}/app/route.ts`]: app,
    [`app/api/${folder}/edge/route.ts`]: `${app}export const runtime = 'edge';\n`,
    [`pages/api/${folder}/pages.ts`]: `
      import { paymentWebhookApi } from '@paylink/next/pages';
      export const config = { api: { bodyParser: false } };
      export default paymentWebhookApi(${options}, ${handler});
    `,
  };
}

/** Routes with the limit that the requests are made for. */
export const LIMITED_ROUTES = limitedRoutes('limited', LIMIT);

const EDGE = '/api/limited/edge';
const PATHS = ['/api/limited/app', EDGE, '/api/limited/pages'];
const runs = Number(process.env['PAYLINK_DIFFERENTIAL'] ?? 150);
const seed = Number(process.env['PAYLINK_SEED'] ?? randomInt(2 ** 31));

/**
 * @throws with the request and the seed where a router of the application on `port` answers
 *   otherwise than node:http.
 */
export async function expectSameAsNode(port: number): Promise<void> {
  const options = { secret: SECRET, bodyLimit: LIMIT };
  const node = await nodeHttp.listen({
    options,
    handler: () => undefined,
    onHostError: () => undefined,
  });
  const answerOf = async (request: GeneratedRequest, at: number, path?: string) => {
    const { status, body, wire } = await exchange(at, ...piecesOf(request, path));
    wire.reset();
    return { status, body };
  };
  await fc.assert(
    fc.asyncProperty(requests, async (request) => {
      const [expected, ...answers] = await Promise.all([
        answerOf(request, node.port),
        ...PATHS.map((path) => answerOf(request, port, path)),
      ]);
      answers.forEach((answer, index) => {
        // Next reads the whole body before an edge function runs, and so comes to see that it is
        // framed wrongly.
        const isNexts =
          PATHS[index] === EDGE && answer.status === 400 && request.framing.includes('than it is');
        if (!isNexts)
          expect({ path: PATHS[index], ...answer }).toEqual({ path: PATHS[index], ...expected });
      });
    }),
    { numRuns: runs, seed },
  );
  await node.close();
}
