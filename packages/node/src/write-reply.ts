import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { Http2ServerResponse } from 'node:http2';
import { finished } from 'node:stream/promises';
import type { Reply } from '@paylink/core';
import { headerOf } from './header.js';
import { endOfTurn } from './turn.js';

/** Milliseconds for an uploading sender to read its reply, which a reset could overtake. */
const LINGER = 1_000;

/**
 * Writes a reply and resolves once it is written. On HTTP/1.1, a 401 or a reply before the end of
 * the body closes the connection, or Node would read the rest of the upload. On HTTP/2, such an
 * early reply resets the stream. Does not change a response that other code completed, and cuts
 * off one that other code only began. Never rejects. Closes the socket if the response throws.
 */
export async function writeReply(
  req: IncomingMessage,
  res: ServerResponse,
  { status, headers, body }: Reply,
): Promise<void> {
  try {
    if (res.headersSent) {
      if (!res.writableEnded) res.destroy();
      return;
    }
    const isUnread = !hasEnded(req);
    const isHttp1 = req.httpVersionMajor < 2;
    // HTTP/2 has no such header (RFC 9113 section 8.2.2), so the stream is reset after the reply.
    if (isUnread && !isHttp1) resetAfterReply(res as unknown as Http2ServerResponse);
    const written: OutgoingHttpHeaders = { 'content-length': Buffer.byteLength(body), ...headers };
    if (isHttp1 && (isUnread || status === 401)) written.connection = 'close';
    // Other code may have set a text that Node refuses. HTTP/2 has no such text.
    if (isHttp1) res.statusMessage = '';
    res.writeHead(status, written);
    // A server can be configured to throw if a reply to HEAD has a body.
    const sent = req.method === 'HEAD' ? '' : body;
    if (!isUnread || !isHttp1) return void res.end(sent);
    if (sent === '') res.flushHeaders();
    else res.write(sent);
    // Reads on for a moment before the close (RFC 9112 section 9.6).
    req.resume();
    const signal = AbortSignal.timeout(LINGER);
    await finished(req, { signal, writable: false }).catch(() => undefined);
    // Other code may have wrapped `end` and expect the text of the reply.
    res.end();
  } catch {
    res.destroy();
  }
}

function hasEnded(req: IncomingMessage): boolean {
  if (req.complete || req.readableEnded) return true;
  const length = headerOf(req, 'content-length') ?? '0';
  const isChunked = headerOf(req, 'transfer-encoding') !== undefined;
  return req.httpVersionMajor < 2 && length === '0' && !isChunked;
}

/** Destroys the stream once the reply is sent. A close would wait for the unread body. */
function resetAfterReply({ stream }: Http2ServerResponse): void {
  // The response itself emits `finish` only when the stream closes.
  stream.once('finish', () => {
    void endOfTurn().then(() => stream.destroy());
  });
}
