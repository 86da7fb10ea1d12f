import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Opens a server on this machine, at any free port if `port` is 0. Add a listener to answer. */
export async function listen(
  port: number,
): Promise<{ readonly server: Server; readonly url: string }> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => {
      server.off('error', reject);
      resolve();
    });
  });
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

export function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => {
      resolve();
    });
    server.closeAllConnections();
  });
}
