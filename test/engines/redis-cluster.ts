import { spawnSync } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import { startRedis, type RedisServer } from './redis.js';
import { freePort } from './starting.js';

export interface RedisCluster {
  readonly ports: readonly number[];
  close(): Promise<void>;
}

/** Three masters on loopback, with all slots. @throws with what redis-cli said */
export async function startRedisCluster(): Promise<RedisCluster> {
  const nodes: RedisServer[] = [];
  for (let number = 0; number < 3; number++) {
    // The bus has a port of its own, by default the port plus 10,000, which may be over the last one.
    const bus = await freePort();
    nodes.push(await startRedis(['--cluster-enabled', 'yes', '--cluster-port', `${bus}`, '--cluster-node-timeout', '15000']));
  }
  const close = async (): Promise<void> => {
    for (const node of nodes) await node.close();
  };
  const addresses = nodes.map(({ port }) => `127.0.0.1:${port}`);
  const { status, stdout, stderr } = spawnSync('redis-cli', ['--cluster', 'create', ...addresses, '--cluster-yes'], {
    encoding: 'utf8',
    timeout: 60_000,
  });
  if (status !== 0) {
    await close();
    throw new Error(`redis-cli: ${stdout}${stderr}`);
  }
  for (const { port } of nodes) await untilOk(port);
  return { ports: nodes.map(({ port }) => port), close };
}

/** Each node has to hear of the slots of the others, and answers CLUSTERDOWN until then. */
async function untilOk(port: number): Promise<void> {
  for (let tries = 1; ; tries++) {
    const { stdout } = spawnSync('redis-cli', ['-p', `${port}`, 'cluster', 'info'], { encoding: 'utf8' });
    if (stdout.includes('cluster_state:ok')) return;
    if (tries === 300) throw new Error(`the node at ${port} is not ready: ${stdout}`);
    await pause(100);
  }
}
