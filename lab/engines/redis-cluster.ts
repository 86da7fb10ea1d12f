import { spawnSync } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import { startRedis, type RedisServer } from '../../test/servers/redis.js';
import { freePort } from '../../test/servers/starting.js';

export interface RedisCluster {
  readonly ports: readonly number[];
  /** SIGKILL to one of the masters. */
  killMaster(): Promise<void>;
  /** How many masters serve slots. */
  masters(): number;
  close(): Promise<void>;
}

export interface ClusterShape {
  /** Of each master. Default 0. */
  readonly replicas?: number;
  /** Milliseconds after which a master that does not answer is replaced. */
  readonly nodeTimeout?: number;
}

const MASTERS = 3;

/** Three masters on loopback, with all slots. @throws with what redis-cli said */
export async function startRedisCluster({
  replicas = 0,
  nodeTimeout = 15_000,
}: ClusterShape = {}): Promise<RedisCluster> {
  const nodes: RedisServer[] = [];
  for (let number = 0; number < MASTERS * (1 + replicas); number++) {
    // The bus has a port of its own, by default the port plus 10,000, which may be over the last
    // one.
    const bus = await freePort();
    nodes.push(
      await startRedis([
        '--cluster-enabled',
        'yes',
        '--cluster-port',
        `${bus}`,
        '--cluster-node-timeout',
        `${nodeTimeout}`,
      ]),
    );
  }
  const close = async (): Promise<void> => {
    for (const node of nodes) await node.close();
  };
  const addresses = nodes.map(({ port }) => `127.0.0.1:${port}`);
  const shape = ['--cluster-replicas', `${replicas}`, '--cluster-yes'];
  const { status, stdout, stderr } = spawnSync(
    'redis-cli',
    ['--cluster', 'create', ...addresses, ...shape],
    {
      encoding: 'utf8',
      timeout: 60_000,
    },
  );
  if (status !== 0) {
    await close();
    throw new Error(`redis-cli: ${stdout}${stderr}`);
  }
  // Each has to hear of the slots of the others, and answers CLUSTERDOWN until then; a replica that
  // has no copy yet does not take over.
  for (const { port } of nodes) await untilSaid(port, 'cluster info', 'cluster_state:ok');
  for (const { port } of nodes.slice(MASTERS))
    await untilSaid(port, 'info replication', 'master_link_status:up');
  return {
    ports: nodes.map(({ port }) => port),
    // The first ones that are named to `create` become the masters.
    killMaster: () => nodes[0]!.kill(),
    masters() {
      const { stdout } = spawnSync('redis-cli', ['-p', `${nodes[1]!.port}`, 'cluster', 'nodes'], {
        encoding: 'utf8',
      });
      const flags = stdout.split('\n').map((line) => line.split(' ')[2] ?? '');
      return flags.filter((each) => each.includes('master') && !each.includes('fail')).length;
    },
    close,
  };
}

async function untilSaid(port: number, question: string, answer: string): Promise<void> {
  for (let tries = 1; ; tries++) {
    const { stdout } = spawnSync('redis-cli', ['-p', `${port}`, ...question.split(' ')], {
      encoding: 'utf8',
    });
    if (stdout.includes(answer)) return;
    if (tries === 300) throw new Error(`the node at ${port} is not ready: ${stdout}`);
    await pause(100);
  }
}
