/** The handlers' suite in a short form on the newest Node, whose errors and proxies differ. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { install } from '../runtimes/install.js';
import { nodes } from '../runtimes/versions.js';

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const HOSTS = ['node:http', 'Express 5', 'Fastify 5', 'Koa 3', 'Hono', 'NestJS on Express'];

it(`holds on ${nodes.at(-1)!.name}`, { tags: 'P13', timeout: 300_000 }, async ({ skip }) => {
  const node = await install(nodes.at(-1)!);
  if ('missing' in node) return skip(node.missing);
  const vitest = ['node_modules/vitest/vitest.mjs', 'run', 'test/adapters/handler.test.ts'];
  const options = ['--tags-filter', 'G01 or O08 or N07 or O10', '--maxWorkers', '1'];
  const env = { ...process.env, PAYLINK_HOSTS: HOSTS.join(), NO_COLOR: '1' };
  const { stdout } = await run(node.executable, [...vitest, ...options], { cwd: ROOT, env });
  // Lambda is always one of the hosts.
  expect(stdout).toMatch(new RegExp(`Tests +${4 * (HOSTS.length + 1)} passed`));
});
