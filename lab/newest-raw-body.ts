/**
 * `pnpm lab newest-raw-body`: runs the tests of `@paylink/node` with the newest raw-body, because
 * the package depends on one minor version. On the newest tested Node, which that release needs.
 */
import { execFileSync } from 'node:child_process';
import { ROOT, run } from '../scripts/bootstrap.mjs';
import { install, installPackage } from '../test/runtimes/install.js';
import { nodes } from '../test/runtimes/versions.js';

const version = execFileSync('npm', ['view', 'raw-body', 'version'], { encoding: 'utf8' }).trim();
const rawBody = await installPackage({ package: 'raw-body', version });
const node = await install(nodes.at(-1)!);
if ('missing' in node) throw new Error(node.missing);
console.log(`raw-body ${version} on ${nodes.at(-1)!.name}`);

const vitest = `${ROOT}/node_modules/vitest/vitest.mjs`;
const projects = ['--project=together', '--project=alone'];
const env = { ...process.env, PAYLINK_RAW_BODY: rawBody };
process.exitCode = await run(
  node.executable,
  [vitest, 'run', ...projects, 'packages/node/', ...process.argv.slice(2)],
  { env },
);
