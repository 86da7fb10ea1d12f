import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createAdaptorServer } from '@hono/node-server';
import { ConfigurationError } from '@paylink/core';
import { isLoopbackAddress } from './loopback.js';

export interface ListenOptions {
  readonly host: string;
  readonly port: number;
  readonly allowRemote: boolean;
}

/**
 * Listens, by default only on a loopback address. Returns the origin, `http://host:port`.
 *
 * @throws Error if the port is taken
 */
export async function listen(
  { host, port, allowRemote }: ListenOptions,
  fetch: (request: Request) => Promise<Response>,
) {
  const server = createAdaptorServer({
    fetch,
    // The emulator runs inside other processes, whose Request and Response must stay unchanged.
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
  if (!allowRemote && !isLoopbackAddress(address)) {
    await close(server);
    throw new ConfigurationError('host', `resolves to ${address}, which is not a loopback address`);
  }
  return { origin: originOf(bare(host), bound), close: () => close(server) };
}

/** Returns the address for programs on this machine. */
function originOf(host: string, port: number): string {
  // Servers listen on 0.0.0.0 and ::, but not every client can connect to them.
  const reached = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return new URL(`http://${reached.includes(':') ? `[${reached}]` : reached}:${port}`).origin;
}

function bare(host: string): string {
  return host.replace(/^\[|\]$/g, '');
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
