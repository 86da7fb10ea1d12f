/**
 * `pnpm release:dry` makes three releases from a clone of the last commit, against a registry on
 * this machine: a first one that breaks halfway and is rejected once, a fix, and a breaking name.
 * A merchant installs each. verdaccio keeps the packages. It has no staging, which
 * loopback-services.mjs stands in for, as it does for GitHub's releases.
 */
import assert from 'node:assert/strict';
import { execFile, execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { PNPM, ROOT } from './bootstrap.mjs';
import { startServices, TOKENS } from './loopback-services.mjs';

/** The newest one for Node 20. */
const REGISTRY = 'verdaccio@6.8.0';

const folder = mkdtempSync(join(tmpdir(), 'paylink-release-dry-'));
const [clone, shop] = ['repository', 'shop'].map((name) => join(folder, name));
const children = [];
const started = performance.now();
const say = (text) =>
  console.log(`${((performance.now() - started) / 1000).toFixed(0).padStart(4)} s  ${text}`);

const execute = promisify(execFile);
/** Runs a program, and returns its output. @throws Error with the output unless it succeeds */
async function run(command, args, cwd, env = {}) {
  const options = { cwd, env: { ...process.env, ...env }, maxBuffer: 64 * 1024 * 1024 };
  try {
    return (await execute(command, args, options)).stdout;
  } catch (error) {
    throw new Error(`${command} ${args.join(' ')}\n${error.stdout}\n${error.stderr}`);
  }
}

async function freePort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Resolves with the reply as soon as the address answers. */
async function waitFor(address) {
  for (;;) {
    const reply = await fetch(address).catch(() => undefined);
    if (reply !== undefined) return reply;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

async function startRegistry() {
  const home = join(folder, 'registry');
  mkdirSync(home);
  // verdaccio wants a dist-tag of node-fetch, and mirrors may have none.
  writeFileSync(join(home, 'package.json'), '{"overrides":{"node-fetch":"2.7.0"}}');
  await run('npm', ['install', '--no-audit', '--no-fund', REGISTRY], home);
  const { stdout: upstream } = await execute('npm', ['config', 'get', 'registry']);
  const ours = { access: '$all', publish: '$authenticated' };
  const config = {
    storage: join(home, 'storage'),
    auth: { htpasswd: { file: join(home, 'htpasswd') } },
    uplinks: { upstream: { url: upstream.trim() } },
    packages: {
      '@paylink/*': ours,
      paylink: ours,
      '**': { access: '$all', proxy: 'upstream' },
    },
    max_body_size: '50mb',
    log: { type: 'file', path: join(home, 'log'), level: 'warn' },
  };
  const file = join(home, 'config.yaml');
  writeFileSync(file, JSON.stringify(config)); // JSON is YAML.
  const registry = `http://127.0.0.1:${await freePort()}/`;
  const main = join(home, 'node_modules', 'verdaccio', 'bin', 'verdaccio');
  children.push(spawn(process.execPath, [main, '--config', file, '--listen', registry]));
  await waitFor(registry);
  const user = await fetch(new URL('-/user/org.couchdb.user:maintainer', registry), {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'maintainer', password: 'of-this-machine' }),
  });
  return { registry, login: (await user.json()).token };
}

/** Does what a founder does once, and what the version pull request does. Returns the version. */
async function raiseVersion(changeset) {
  if (changeset !== undefined)
    writeFileSync(
      join(clone, '.changeset', 'next.md'),
      `---\n'@paylink/core': ${changeset}\n---\n\nA ${changeset}.\n`,
    );
  await run('npx', ['-y', PNPM, 'raise'], clone);
  await run('git', ['commit', '-qam', 'release: raise the versions'], clone);
  await run('npx', ['-y', PNPM, 'build'], clone);
  return JSON.parse(readFileSync(join(clone, 'packages/core/package.json'), 'utf8')).version;
}

/** Runs the quick start of AGENTS.md as it stands, and pays an order. */
async function sell() {
  const port = await freePort();
  const page = readFileSync(join(clone, 'AGENTS.md'), 'utf8');
  for (const [, name, code] of page.matchAll(/^```ts\n\/\/ (\w+\.ts)\n(.*?)^```/gms))
    writeFileSync(join(shop, name), code.replace('3000', port));
  writeFileSync(
    join(shop, 'sell.mjs'),
    `import { spawn } from 'node:child_process';
import { startEmulator } from '@paylink/emulator';
const shop = 'http://127.0.0.1:${port}';
const emulator = await startEmulator({ webhook: { url: shop + '/webhooks/payments' } });
const env = { ...process.env, PAYLINK_BASE_URL: emulator.baseUrl, PAYLINK_API_KEY: emulator.apiKey, WEBHOOK_SECRET: emulator.webhookSecret };
const server = spawn(process.execPath, ['--import', 'tsx', 'server.ts'], { env, stdio: 'inherit' });
const ask = async (path, method) => {
  for (;;) {
    const reply = await fetch(shop + path, { method }).catch(() => undefined);
    if (reply !== undefined) return reply.json();
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
};
const { reference } = await ask('/orders', 'POST');
await emulator.pay(reference);
const delivery = await emulator.waitForDelivery({ reference });
const order = await ask('/orders/' + reference, 'GET');
server.kill();
await emulator.close();
console.log(JSON.stringify({ acknowledged: delivery.reference === reference, order: order.status }));
`,
  );
  return (await run(process.execPath, ['sell.mjs'], shop)).trim();
}

try {
  const { stdout: changes } = await execute('git', ['status', '--porcelain'], { cwd: ROOT });
  if (changes !== '') say('uncommitted changes are not part of this run');
  const { registry, login } = await startRegistry();
  const services = await startServices({ registry, login });
  say(`${REGISTRY} on this machine, with a stand-in for npm stage and GitHub's releases`);

  await run('git', ['clone', '--quiet', ROOT, clone], folder);
  for (const [name, value] of [
    ['user.name', 'A maintainer'],
    ['user.email', 'maintainer@shop.example'],
  ])
    await run('git', ['config', name, value], clone);
  const repository = 'https://git.example/owner/paylink';
  const filled = [
    'author=A maintainer',
    'homepage=https://docs.example',
    `repository=${repository}`,
  ];
  await run('npm', ['pkg', 'set', ...filled], clone);
  await run('npx', ['-y', PNPM, 'install', '--frozen-lockfile', '--prefer-offline'], clone);
  say('cloned, filled in and installed');

  const home = { npm_config_registry: services.address, npm_config_update_notifier: 'false' };
  const env = {
    ...home,
    GITHUB_API_URL: services.address.slice(0, -1),
    GITHUB_REPOSITORY: 'owner/paylink',
    GITHUB_TOKEN: 'of-the-workflow',
    GITHUB_OUTPUT: join(folder, 'output'),
    NPM_STAGE_TOKEN: TOKENS.stage,
  };
  const publish = async () => {
    const sha = execFileSync('git', ['rev-parse', 'HEAD'], { cwd: clone }).toString().trim();
    const said = await run(process.execPath, ['scripts/publish.mjs'], clone, {
      ...env,
      GITHUB_SHA: sha,
    });
    return said.trim().split('\n').at(-1);
  };
  const withToken = (name) => {
    const file = join(folder, `${name}.npmrc`);
    writeFileSync(file, `//${new URL(services.address).host}/:_authToken=${TOKENS[name]}\n`);
    return { ...home, npm_config_userconfig: file };
  };
  const maintainer = withToken('maintainer');
  const npm = (args, cwd = folder) => run('npm', args, cwd, maintainer);
  const stagedOnes = async () => JSON.parse(await npm(['stage', 'list', '--json']));
  const approveAll = async () => {
    for (const { id } of await stagedOnes()) await npm(['stage', 'approve', id]);
  };
  const isPublic = async (name) =>
    (await fetch(new URL(name.replace('/', '%2f'), services.address))).ok;

  const first = await raiseVersion();
  services.faults.stageUntil = 5;
  const broken = await publish().catch(({ message }) => message);
  assert.match(broken, /was not staged: run this again/);
  services.faults.stageUntil = Infinity;
  assert.equal(services.staged.size, 5, broken);
  say(`v${first} broke off after 5 packages: ${await publish()}`);
  const ids = await stagedOnes();
  const count = ids.length;
  assert.equal(new Set(ids.map(({ packageName }) => packageName)).size, count);
  assert.equal(services.releases.length, 1);
  assert.ok(services.releases[0].draft);
  const approval = ['stage', 'approve', ids[0].id];
  await assert.rejects(run('npm', approval, folder, withToken('stage')), /can only stage/);
  say('the stage-only token cannot approve');

  for (const { id } of ids) await npm(['stage', 'reject', id]);
  for (const { packageName } of ids) assert.equal(await isPublic(packageName), false);
  services.releases.length = 0; // A founder deletes the draft.
  say(`rejected: nothing is public. Once more: ${await publish()}`);
  await approveAll();
  say(`approved: ${await publish()}`);
  assert.deepEqual(
    services.releases.map(({ tag_name: tag, draft }) => [tag, draft]),
    [[`v${first}`, false]],
  );

  const templates = ['run', '--project', 'built', 'test/init/templates.built.test.ts'];
  await run('npx', ['vitest', ...templates], clone, { ...home, PAYLINK_INIT: 'published' });
  say('each template installs from the registry, passes its test, and starts');

  mkdirSync(shop);
  writeFileSync(join(shop, 'package.json'), '{"type":"module"}');
  const lines = readFileSync(join(clone, 'AGENTS.md'), 'utf8').match(/^npm install .*$/gm);
  for (const line of [...lines, 'npm install --save-dev tsx'])
    await run('npm', [...line.split(' ').slice(1), '--no-audit', '--no-fund'], shop, home);
  say(`a merchant installed ${first} and sold: ${await sell()}`);
  const reserved = await run('npx', ['-y', `paylink@${first}`, '--version'], folder, {
    ...home,
    // npx would run the same version of an earlier dry run.
    npm_config_cache: join(folder, 'cache'),
  });
  assert.equal(reserved.trim(), first);
  say(`npx paylink@${first} is that version of the command line`);
  const manifest = JSON.parse(
    readFileSync(join(shop, 'node_modules/@paylink/express/package.json'), 'utf8'),
  );
  const readme = readFileSync(join(shop, 'node_modules/@paylink/express/README.md'), 'utf8');
  assert.ok(manifest.homepage.startsWith(`${repository}/tree/v${first}/`));
  const foreign = (readme.match(/\]\((?!#)[^)]*\)/g) ?? []).filter(
    (link) => !link.startsWith(`](${repository}/blob/v${first}/`),
  );
  say(
    `links of its README outside of v${first}: ${foreign.length === 0 ? 'none' : foreign.join(' ')}`,
  );

  for (const [change, expected] of [
    ['patch', 'gets it'],
    ['minor', 'keeps the version before'],
  ]) {
    const version = await raiseVersion(change);
    await publish();
    await approveAll();
    await publish();
    await run('npm', ['update', '--no-audit', '--no-fund'], shop, home);
    const { version: installed } = JSON.parse(
      readFileSync(join(shop, 'node_modules/@paylink/core/package.json'), 'utf8'),
    );
    assert.equal(installed === version, change === 'patch');
    say(
      `v${version}, a ${change}: npm update ${expected} (${installed}), and sells: ${await sell()}`,
    );
  }
  assert.equal(services.releases.length, 3);
  say(
    `${count} packages, three tags: ${services.releases.map(({ tag_name: tag }) => tag).join(', ')}`,
  );
  services.close();
} finally {
  for (const child of children) child.kill();
  rmSync(folder, { recursive: true, force: true });
}
