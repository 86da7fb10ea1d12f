/** Code blocks of a page, which a test runs unchanged. */
import { once } from 'node:events';
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer, Server, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onTestFinished, vi } from 'vitest';
import { withCode } from '../../docs/.vitepress/code.js';

const root = new URL('../../', import.meta.url);

/** Returns the only block of a page with a text. @throws Error unless exactly one block has it */
export async function blockOf(page: string, containing: string): Promise<string> {
  const markdown = withCode(await readFile(new URL(page, root), 'utf8'), page);
  const blocks = Array.from(markdown.matchAll(/^```\w[^\n]*\n(.*?)^```$/gms), ([, code]) => code!);
  const found = blocks.filter((code) => code.includes(containing));
  if (found.length !== 1) throw new Error(`${page} has ${found.length} blocks with ${containing}`);
  return found[0]!;
}

/** The environment of a TypeScript block. */
export interface Surroundings {
  /** Functions that the block only declares, because the reader writes them. */
  readonly declared?: Readonly<Record<string, unknown>>;
  /** The reader's modules that the block imports, by file name. */
  readonly files?: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Unexported names of the block that the test needs. */
  readonly locals?: readonly string[];
}

/** Runs a block as a module until the test ends, and returns its exports. */
export async function runBlock(
  code: string,
  { declared = {}, files = {}, env = {}, locals = [] }: Surroundings = {},
): Promise<unknown> {
  const folder = await mkdtemp(join(tmpdir(), 'paylink-block-'));
  onTestFinished(async () => {
    vi.unstubAllEnvs();
    vi.unstubAllGlobals();
    await rm(folder, { recursive: true, force: true });
  });
  // Imports resolve from the tests' folder, which has every framework.
  await symlink(fileURLToPath(new URL('test/node_modules', root)), join(folder, 'node_modules'));
  const module = `${code}\nexport { ${locals.join(', ')} };\n`;
  for (const [name, text] of Object.entries({ ...files, 'block.ts': module }))
    await writeFile(join(folder, name), text);
  for (const [name, value] of Object.entries(declared)) vi.stubGlobal(name, value);
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
  return import(join(folder, 'block.ts')) as Promise<unknown>;
}

/** Serves until the test ends, and returns the webhook's URL. */
export async function serve(
  listener: (...of: Parameters<RequestListener>) => unknown,
): Promise<string> {
  return urlOf(createServer((req, res) => void listener(req, res)).listen(0, '127.0.0.1'));
}

/** Runs a listening block on a free port until the test ends, and returns its webhook's URL. */
export async function runServer(code: string, surroundings: Surroundings = {}): Promise<string> {
  const servers: Server[] = [];
  // oxlint-disable-next-line typescript/unbound-method -- called on the server below
  const { listen } = Server.prototype;
  const spy = vi.spyOn(Server.prototype, 'listen').mockImplementation(function (
    this: Server,
    ...values: unknown[]
  ) {
    servers.push(this);
    const callback = values.find((value) => typeof value === 'function') as
      | (() => void)
      | undefined;
    return listen.call(this, { port: 0, host: '127.0.0.1' }, callback);
  });
  await runBlock(code, surroundings);
  spy.mockRestore();
  const [server] = servers;
  if (server === undefined || servers.length > 1)
    throw new Error(`the block listens ${servers.length} times`);
  return urlOf(server);
}

async function urlOf(server: Server): Promise<string> {
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  if (!server.listening) await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhooks/payments`;
}
