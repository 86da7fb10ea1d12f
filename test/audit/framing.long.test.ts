/** Requests with two lengths, and the audit's Host header. */
import { ServerResponse, type RequestListener } from 'node:http';
import { auditReceiver } from '../../packages/cli/src/audit/audit-receiver.js';
import type { AuditReport } from '../../packages/cli/src/audit/report.js';
import { describe, expect, it } from 'vitest';
import { SECRET, receiver, serve } from './hand-written.js';

const BESIDE_CHUNKS = 'a length beside a chunked body';

/** Keeps the connection open, as Node does by default. */
const keepingAlive: RequestListener = (req, res) => {
  const writeHead = (status: number) => ServerResponse.prototype.writeHead.call(res, status);
  res.writeHead = writeHead;
  receiver()(req, res);
};

/** Tries a length beside chunks on a server that reads only the chunks. */
async function besideChunks(
  listener: RequestListener,
): Promise<AuditReport['results'][number] | undefined> {
  const url = await serve(listener, { insecureHTTPParser: true });
  const enough = new AbortController();
  const onProgress = ({ name }: { readonly name: string }): void => {
    if (name.endsWith(BESIDE_CHUNKS)) enough.abort();
  };
  const { results } = await auditReceiver({
    url,
    secret: SECRET,
    signal: enough.signal,
    onProgress,
  });
  return results.find(({ what }) => what === BESIDE_CHUNKS);
}

describe('auditReceiver', () => {
  it('accepts a server that ignores Content-Length beside chunks and closes the connection', async () => {
    expect(await besideChunks(receiver())).toMatchObject({ passed: true, actual: 200 });
  }, 30_000);

  it('reports a server that ignores Content-Length beside chunks and keeps the connection', async () => {
    expect(await besideChunks(keepingAlive)).toMatchObject({
      passed: false,
      actual: 200,
      severity: 'low',
      cause: 'framing',
      detail: 'the server answered another request on the same connection',
    });
  }, 30_000);

  it('sends one Host header, from requestHeaders if they have one', async () => {
    const hosts: string[][] = [];
    const url = await serve((req, res) => {
      hosts.push(
        req.rawHeaders.filter((_, index) => req.rawHeaders[index - 1]?.toLowerCase() === 'host'),
      );
      receiver()(req, res);
    });
    for (const requestHeaders of [{ host: 'shop.example' }, {}]) {
      const enough = new AbortController();
      await auditReceiver({
        url,
        secret: SECRET,
        requestHeaders,
        signal: enough.signal,
        onProgress: () => enough.abort(),
      });
    }
    expect(hosts[0]).toEqual(['shop.example']);
    expect(hosts.at(-1)).toEqual([new URL(url).host]);
  });
});
