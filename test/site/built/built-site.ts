import { createServer, type Server } from 'node:http';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const DIST = fileURLToPath(new URL('../../../docs/.vitepress/dist', import.meta.url));

if (!existsSync(join(DIST, 'index.html')))
  throw new Error('the site is not built: run pnpm docs:build, or pnpm docs:check for both');

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.webp': 'image/webp',
  '.json': 'application/json',
};

/** Returns the built files with this ending, relative to the site's root. */
export function filesWith(ending: string): string[] {
  return readdirSync(DIST, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith(ending))
    .sort();
}

export const read = (path: string): string => readFileSync(join(DIST, path), 'utf8');

export const readBytes = (path: string): Buffer => readFileSync(join(DIST, path));

export interface BuiltSite {
  readonly origin: string;
  close(): Promise<void>;
}

/** Serves the files like any static host. */
export async function serveSite(): Promise<BuiltSite> {
  const server: Server = createServer((request, response) => {
    const { pathname } = new URL(request.url!, 'http://localhost');
    const path = join(DIST, pathname.endsWith('/') ? `${pathname}index.html` : pathname);
    const isThere =
      path.startsWith(DIST) && statSync(path, { throwIfNoEntry: false })?.isFile() === true;
    response.writeHead(isThere ? 200 : 404, {
      'content-type': TYPES[isThere ? extname(path) : '.html'] ?? 'text/plain; charset=utf-8',
    });
    response.end(readFileSync(isThere ? path : join(DIST, '404.html')));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    origin: `http://localhost:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
