/** Runs a server in its own process: `serve.ts <host> <server>`. */
import { HOSTS, type HostName } from './hosts/index.js';
import type { ContestantName } from './hosts/host.js';
import { answerBench } from './server-process.js';

const [hostName, name] = process.argv.slice(2) as [HostName, ContestantName];
const host = await HOSTS[hostName].load();
answerBench(await host[name]());
