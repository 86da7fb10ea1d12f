import { spawnSync } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import { startRedis, type RedisServer } from '../../test/servers/redis.js';
import { freePort } from '../../test/servers/starting.js';

export interface RedisCluster {
  readonly ports: readonly number[];
  /** Sends SIGKILL to one master. */
  killMaster(): Promise<void>;
  /** The number of masters that serve slots. */
  masters(): number;
  close(): Promise<void>;
}

export interface ClusterShape {
  /** Replicas per master. Default 0. */
  readonly replicas?: number;
  /** Milliseconds until a silent master is replaced. */
  readonly nodeTimeout?: number;
}

const MASTERS = 3;

/** Starts three masters on loopback, with all slots. @throws with the output of redis-cli */
export async function startRedisCluster({
  replicas = 0,
  nodeTimeout = 15_000,
}: ClusterShape = {}): Promise<RedisCluster> {
  const nodes: RedisServer[] = [];
  for (let number = 0; number < MASTERS * (1 + replicas); number++) {
    // The cluster bus needs its own port. Its default, the port plus 10,000, may exceed the last
    // port.
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
  // Each node answers CLUSTERDOWN until it knows the others' slots. A replica without a copy does
  // not take over.
  for (const { port } of nodes) await untilSaid(port, 'cluster info', 'cluster_state:ok');
  for (const { port } of nodes.slice(MASTERS))
    await untilSaid(port, 'info replication', 'master_link_status:up');
  return {
    ports: nodes.map(({ port }) => port),
    // The first nodes in `create` become the masters.
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
