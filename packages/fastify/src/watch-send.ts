import type { FastifyReply } from 'fastify';

/** Gives whether `send` was called: `reply.sent` says so only when all onSend hooks have run. */
export function watchSend(reply: FastifyReply): () => boolean {
  const send = reply.send.bind(reply);
  let called = false;
  reply.send = seeSend;
  return () => called;

  function seeSend(payload: unknown): FastifyReply {
    called = true;
    return send(payload);
  }
}
