/**
 * A server that plays AWS Lambda behind API Gateway v1: the function's input, and the use of its
 * result.
 */
import { paymentWebhook, type LambdaEvent } from '@paylink/lambda';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { listening, serverFor, USUAL, type Host, type Setup } from './host.js';

export const lambda: Host = {
  name: 'AWS Lambda',
  capabilities: {
    ...USUAL,
    context: ['context', 'event'],
    closes: false,
    surroundings: [],
    hint: /never/,
  },
  listen(setup) {
    const invoke = paymentWebhook(setup.options, setup.handler);
    const gateway = async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
      const event = await eventOf(req);
      const { statusCode, body, multiValueHeaders } = await invoke(event);
      for (const [name, values] of Object.entries(multiValueHeaders ?? {}))
        res.setHeader(name, values.map(String));
      res.writeHead(statusCode, { 'content-length': Buffer.byteLength(body) }).end(body);
    };
    return listening(
      serverFor(
        setup,
        (req, res) => void gateway(req, res).catch((error: unknown) => fail(setup, res, error)),
      ),
    );
  },
};

async function eventOf(req: IncomingMessage): Promise<LambdaEvent> {
  const pieces: Buffer[] = [];
  for await (const piece of req) pieces.push(piece as Buffer);
  const multiValueHeaders: Record<string, string[]> = Object.create(null) as Record<
    string,
    string[]
  >;
  const { rawHeaders } = req;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    (multiValueHeaders[rawHeaders[index]!] ??= []).push(rawHeaders[index + 1]!);
  }
  const body = Buffer.concat(pieces).toString('base64');
  return { httpMethod: req.method ?? 'POST', multiValueHeaders, body, isBase64Encoded: true };
}

/** A sender that left does not read the reply. */
function fail({ onHostError }: Setup, res: ServerResponse, error: unknown): void {
  if (!res.destroyed) onHostError(error);
  res.destroy();
}
