import type { IncomingMessage, ServerResponse } from 'node:http';
import { paymentWebhook } from '@paylink/node';
import { inflated, listening, serverFor, SLOW, type Host, type Surroundings } from './host.js';

type Listener = (req: IncomingMessage, res: ServerResponse) => unknown;

export const nodeHttp: Host = {
  name: 'node:http',
  capabilities: {
    gate: false,
    routes: false,
    banners: [],
    context: ['req'],
    fetch: false,
    closes: true,
    parserErrors: 'Node',
    http2: true,
    surroundings: [
      'a JSON parser that keeps a Buffer',
      'a JSON parser that keeps a string',
      'a naive reader',
      'a listener for data',
      'a listener for data, a tick earlier',
      'a text decoder',
      'something slow',
      'another webhook at once',
      'every method',
      'an inflater',
    ],
    hint: /Other code must not read the request before paymentWebhook/,
  },
  listen: (setup) =>
    listening(
      serverFor(setup, surround(setup.surroundings, paymentWebhook(setup.options, setup.handler))),
    ),
};

function surround(surroundings: Surroundings | undefined, listener: Listener): Listener {
  const readFirst = (req: IncomingMessage, then: (body: Buffer) => void): void => {
    const chunks: Buffer[] = [];
    req.on('data', (piece: Buffer) => chunks.push(piece));
    req.on('end', () => {
      then(Buffer.concat(chunks));
    });
  };
  switch (surroundings) {
    case 'a naive reader':
      return (req, res) => {
        readFirst(req, () => {
          listener(req, res);
        });
      };
    case 'a JSON parser that keeps a Buffer':
    case 'a JSON parser that keeps a string':
      return (req, res) => {
        readFirst(req, (body) => {
          const rawBody =
            surroundings === 'a JSON parser that keeps a Buffer' ? body : body.toString('utf8');
          listener(Object.assign(req, { rawBody, body: parsed(body) }), res);
        });
      };
    case 'a listener for data':
      return (req, res) => {
        req.on('data', () => undefined);
        listener(req, res);
      };
    case 'a listener for data, a tick earlier':
      return (req, res) => {
        req.on('data', () => undefined);
        setImmediate(listener, req, res);
      };
    case 'a text decoder':
      return (req, res) => {
        listener(req.setEncoding('utf8'), res);
      };
    case 'an inflater':
      return (req, res) => {
        inflated(req, () => {
          listener(req, res);
        });
      };
    case 'something slow':
      return (req, res) => {
        setTimeout(listener, SLOW, req, res);
      };
    case 'another webhook at once':
      return (req, res) => {
        listener(req, res);
        listener(req, res);
      };
    default:
      return listener;
  }
}

function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return undefined;
  }
}
