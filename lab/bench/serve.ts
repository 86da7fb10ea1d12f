/** Runs a server in its own process: `serve.ts <host> <server>`, forked by server-process.ts. */
import type { AddressInfo } from 'node:net';
import { HOSTS, type HostName } from './hosts/index.js';
import type { ContestantName } from './hosts/host.js';

const [hostName, name] = process.argv.slice(2) as [HostName, ContestantName];
const host = await HOSTS[hostName].load();
const server = await host[name]();
// Connections wait during the others' turns.
server.keepAliveTimeout = 600_000;
server.listen(0, '127.0.0.1', () => {
  process.send!((server.address() as AddressInfo).port);
});

process.on('message', () => {
  const { user, system } = process.cpuUsage();
  process.send!(user + system);
});
process.on('disconnect', () => {
  process.exit();
});
