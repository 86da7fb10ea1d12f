/** A server in a process of its own: `serve.ts <host> <server>`, forked by server-process.ts. */
import type { AddressInfo } from 'node:net';
import { HOSTS, type HostName } from './hosts/index.js';
import type { ServerName } from './hosts/host.js';

const [hostName, name] = process.argv.slice(2) as [HostName, ServerName];
const host = await HOSTS[hostName].load();
const server = await host[name]();
// The connections wait while the others have their turn.
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
    // What the first one frees of buffers counts as free after the second.
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
