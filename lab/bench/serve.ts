/** Runs a server in its own process: `serve.ts <host> <server>`, forked by server-process.ts. */
import type { AddressInfo } from 'node:net';
import { HOSTS, type HostName } from './hosts/index.js';
import type { ServerName } from './hosts/host.js';

const [hostName, name] = process.argv.slice(2) as [HostName, ServerName];
const host = await HOSTS[hostName].load();
const server = await host[name]();
// Connections wait during the others' turns.
server.keepAliveTimeout = 600_000;
server.listen(0, '127.0.0.1', () => {
  process.send!((server.address() as AddressInfo).port);
});

const answers = {
  'cpu time'() {
    const { user, system } = process.cpuUsage();
    return user + system;
  },
  memory() {
    // The second collection counts the buffers that the first one freed.
    globalThis.gc!();
    globalThis.gc!();
    const { heapUsed, arrayBuffers } = process.memoryUsage();
    return heapUsed + arrayBuffers;
  },
  resident() {
    return process.memoryUsage.rss();
  },
};
process.on('message', (question: keyof typeof answers) => {
  process.send!(answers[question]());
});
process.on('disconnect', () => {
  process.exit();
});
