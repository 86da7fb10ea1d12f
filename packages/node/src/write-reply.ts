import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Http2ServerResponse } from 'node:http2';
import { errorReply, type Reply } from '@paylink/core';

// How long a sender that is still uploading may take to see its reply. Without it the close would reset the connection, and
// a reset can overtake the reply.
const LINGER = 1_000;

/**
 * Writes a reply, unless the handler has written one. A reply that is sent before the body's end, and every 401, ends the
 * connection: otherwise Node would read all that the sender still sends.
 *
 * @param statusBefore the status of the response before the handler ran. A handler that set one of 400 and above, and sent nothing, has
 *   refused: it is sent in place of an acknowledgement. Default: whatever the handler set is not looked at.
 */
export function writeReply(req: IncomingMessage, res: ServerResponse, reply: Reply, statusBefore: number = res.statusCode): void {
  if (res.headersSent) {
    if (reply.status >= 400) endBegun(res);
    return;
  }
  const { statusCode } = res;
  const isRefusal = reply.status === 200 && statusCode >= 400 && statusCode < 600 && statusCode !== statusBefore;
  const sent = isRefusal ? errorReply({ code: 'handler_failed', status: statusCode }) : reply;
  // A server can be set up to throw where a reply to HEAD has a body.
  const body = req.method === 'HEAD' ? '' : sent.body;
  const unread = !hasEnded(req);
  // Not by spread: V8 takes ten times as long to add a property to what that has made, and Node to read it.
  const headers: Record<string, string | number> = Object.assign({}, sent.headers);
  headers['content-length'] = Buffer.byteLength(sent.body);

  if (req.httpVersionMajor >= 2) {
    // HTTP/2 has no such header (RFC 9113 section 8.2.2): the stream is reset after the reply (section 8.1).
    if (unread) resetAfterReply(res as unknown as Http2ServerResponse);
    res.writeHead(sent.status, headers).end(body);
    return;
  }
  if (unread || sent.status === 401) headers['connection'] = 'close';
  res.writeHead(sent.status, headers);
  if (unread) linger(req, res, body);
  else res.end(body);
}

/** Cuts off a response that the handler began before it failed: nothing else will end it, or a host would end it as a success. */
export function endBegun(res: ServerResponse): void {
  if (res.headersSent && !res.writableEnded) res.destroy();
}

function hasEnded(req: IncomingMessage): boolean {
  if (req.complete || req.readableEnded) return true;
  const { 'content-length': length = '0', 'transfer-encoding': encoding } = req.headers;
  return req.httpVersionMajor < 2 && length === '0' && encoding === undefined;
}

/** Sends the whole reply now, and reads on for a moment before the close, as RFC 9112 section 9.6 advises. */
function linger(req: IncomingMessage, res: ServerResponse, body: string): void {
  if (body === '') res.flushHeaders();
  else res.write(body);
  const timer = setTimeout(end, LINGER);
  req.once('close', end).once('end', end).once('error', end);
  req.resume();

  function end(): void {
    clearTimeout(timer);
    res.end();
  }
}

function resetAfterReply({ stream }: Http2ServerResponse): void {
  // The stream's own event: the response has its `finish` only when the stream is closed. A turn later, when the reply has been
  // sent; and destroyed rather than closed, which would wait for a body that is not read.
  stream.once('finish', () => {
    setImmediate(() => {
      stream.destroy();
    });
  });
}
