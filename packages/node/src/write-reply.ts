import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { Http2ServerResponse } from 'node:http2';
import type { Reply } from '@paylink/core';

/**
 * Milliseconds that a sender which still uploads may take to read its reply. A close without them would
 * reset the connection, and a reset can overtake the reply.
 */
const LINGER = 1_000;

/**
 * Writes a reply, and resolves when it is written. A reply before the end of the body, and every 401,
 * closes the connection: otherwise Node would read all that the sender still sends. Leaves a response
 * that other code has sent, and cuts off a response that other code only began.
 */
export async function writeReply(
  req: IncomingMessage,
  res: ServerResponse,
  { status, headers, body }: Reply,
): Promise<void> {
  if (res.headersSent) {
    if (status >= 400 && !res.writableEnded) res.destroy();
    return;
  }
  const isUnread = !hasEnded(req);
  const isHttp1 = req.httpVersionMajor < 2;
  // HTTP/2 has no such header (RFC 9113 section 8.2.2): the stream is reset after the reply.
  if (isUnread && !isHttp1) resetAfterReply(res as unknown as Http2ServerResponse);
  const written: OutgoingHttpHeaders = { ...headers, 'content-length': Buffer.byteLength(body) };
  if (isHttp1 && (isUnread || status === 401)) written.connection = 'close';
  res.writeHead(status, written);
  // A server can be set up to throw if a reply to HEAD has a body.
  const sent = req.method === 'HEAD' ? '' : body;
  if (isUnread && isHttp1) await linger(req, res, sent);
  else res.end(sent);
}

function hasEnded(req: IncomingMessage): boolean {
  if (req.complete || req.readableEnded) return true;
  const { 'content-length': length = '0', 'transfer-encoding': encoding } = req.headers;
  return req.httpVersionMajor < 2 && length === '0' && encoding === undefined;
}

/** Sends the whole reply and reads on for a moment before the close (RFC 9112 section 9.6). */
function linger(req: IncomingMessage, res: ServerResponse, body: string): Promise<void> {
  if (body === '') res.flushHeaders();
  else res.write(body);
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      res.end();
      resolve();
    };
    const timer = setTimeout(end, LINGER);
    req.once('close', end).once('end', end).once('error', end);
    req.resume();
  });
}

/** Destroys the stream once the reply is sent: a close would wait for a body that nobody reads. */
function resetAfterReply({ stream }: Http2ServerResponse): void {
  // The response itself has its `finish` only when the stream is closed.
  stream.once('finish', () => {
    setImmediate(() => {
      stream.destroy();
    });
  });
}
