/**
 * Runs one contestant in its own process: `postgres-server.ts <contestant> <database> <pool size>`,
 * forked by postgres-race.ts.
 */
import type { AddressInfo } from 'node:net';
import { CONTESTANTS, type Contestant } from './postgres-contestants.js';
import { openPool } from './postgres-pool.js';

const [contestant, connectionString, poolSize] = process.argv.slice(2) as [
  Contestant,
  string,
  string,
];
const app = await CONTESTANTS[contestant](openPool(connectionString, Number(poolSize)));
const server = app.listen(0, '127.0.0.1', () => {
  process.send!((server.address() as AddressInfo).port);
});
// Connections wait during the other contestant's turn.
server.keepAliveTimeout = 600_000;

process.on('message', () => {
  const { user, system } = process.cpuUsage();
  process.send!(user + system);
});
process.on('disconnect', () => {
  process.exit();
});
