import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createAdaptorServer } from '@hono/node-server';
import { ConfigurationError } from '@paylink/core';
import { isLoopbackAddress } from './loopback.js';

type FetchHandler = (request: Request) => Response | Promise<Response>;

export interface Listening {
  /** `http://host:port`. */
  readonly origin: string;
  /** Sets who answers. */
  serve(handler: FetchHandler): void;
  close(): Promise<void>;
}

/**
 * Listens on a loopback address. Who answers is said afterwards, because the links that are given out hold the port.
 *
 * @throws Error when the port is taken.
 */
export async function listen(host: string, port: number): Promise<Listening> {
  let handler: FetchHandler = () => new Response(null, { status: 503 });
  const server = createAdaptorServer({
    fetch: (request) => handler(request),
    // The process belongs to whoever starts an emulator in it: its Request and Response stay what they are.
    overrideGlobalObjects: false,
    serverOptions: { requestTimeout: 30_000, headersTimeout: 10_000 },
  }) as Server;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, bare(host), () => {
      server.off('error', reject);
      resolve();
    });
  });
  const { address, port: bound } = server.address() as AddressInfo;
  if (!isLoopbackAddress(address)) {
    await close(server);
    throw new ConfigurationError('host', `resolves to ${address}, which is not a loopback address`);
  }
  return {
    origin: `http://${bare(host).includes(':') ? `[${bare(host)}]` : host}:${bound}`,
    serve: (next) => {
      handler = next;
    },
    close: () => close(server),
  };
}

function bare(host: string): string {
  return host.replace(/^\[|\]$/g, '');
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => {
      resolve();
    });
    server.closeAllConnections();
  });
}
