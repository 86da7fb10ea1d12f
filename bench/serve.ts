/** A server in a process of its own: `serve.ts <host> <contestant>`, forked by server-process.ts. */
import type { AddressInfo } from 'node:net';
import { HOSTS, type HostName } from './hosts/index.js';
import type { ContestantName } from './hosts/host.js';

const [hostName, contestant] = process.argv.slice(2) as [HostName, ContestantName];
const host = await HOSTS[hostName].load();
const server = await host[contestant]();
// The connections wait while the others have their turn.
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
