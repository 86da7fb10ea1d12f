import { paymentWebhook } from '@paylink/node';
import { aroundNode, listening, serverFor, USUAL } from './host.js';
import type { AroundNode, Host, Surroundings } from './host.js';

const AROUND: Partial<Record<Surroundings, AroundNode>> = {
  ...aroundNode,
  'a JSON parser that keeps a Buffer': keeping((body) => body),
  'a JSON parser that keeps a string': keeping((body) => body.toString('utf8')),
  'another webhook at once': (_req, go) => {
    go();
    go();
  },
  'every method': (_req, go) => go(),
};

export const nodeHttp: Host = {
  name: 'node:http',
  capabilities: {
    ...USUAL,
    routes: false,
    context: ['req'],
    http2: true,
    surroundings: Object.keys(AROUND) as Surroundings[],
    hint: /Other code must not read the request before paymentWebhook/,
  },
  listen(setup) {
    const webhook = paymentWebhook(setup.options, setup.handler);
    const around = setup.surroundings && AROUND[setup.surroundings];
    return listening(
      serverFor(setup, (req, res) =>
        around ? around(req, () => void webhook(req, res)) : webhook(req, res),
      ),
    );
  },
};

function keeping(convert: (body: Buffer) => unknown): AroundNode {
  return (req, go) => {
    const pieces: Buffer[] = [];
    req.on('data', (piece: Buffer) => pieces.push(piece));
    req.on('end', () => {
      const body = Buffer.concat(pieces);
      Object.assign(req, { rawBody: convert(body), body: parsed(body) });
      go();
    });
  };
}

function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return undefined;
  }
}
