/** Requests with two lengths. */
import { ServerResponse, type RequestListener } from 'node:http';
import { describe, expect, it } from 'vitest';
import { auditUntil } from './audits.js';
import { receiver, serve } from './hand-written.js';

const BESIDE_CHUNKS = 'a length beside a chunked body';

/** Keeps the connection open, as Node does by default. */
const keepingAlive: RequestListener = (req, res) => {
  res.writeHead = (status: number) => ServerResponse.prototype.writeHead.call(res, status);
  receiver()(req, res);
};

const FINDING = {
  passed: false,
  severity: 'low',
  cause: 'framing',
  detail: 'the server answered another request on the same connection',
};

describe('auditReceiver', () => {
  it.each([
    ['accepts', 'closes', receiver(), { passed: true }],
    ['reports', 'keeps', keepingAlive, FINDING],
  ])(
    '%s a server that ignores Content-Length beside chunks and %s the connection',
    async (_accepts, _closes, listener, expected) => {
      // Reads only the chunks.
      const url = await serve(listener, { insecureHTTPParser: true });
      const { results } = await auditUntil(({ name }) => name.endsWith(BESIDE_CHUNKS), { url });
      const result = results.find(({ what }) => what === BESIDE_CHUNKS);
      expect(result).toMatchObject({ actual: 200, ...expected });
    },
  );
});
