/**
 * A receiver in its own process, with its diagnosis, or without it as in production. Forked by
 * receiver-process.ts.
 */
import { SECRET } from '../adapters/deliveries.js';
import { loadHost, type HostName } from '../adapters/hosts/load.js';

const [name = '', diagnosis] = process.argv.slice(2);
const host = await loadHost(name as HostName);
console.warn = console.error = () => undefined;

// Only during the receiver's creation, so that a framework that reads the variable is equal in both
// processes.
if (diagnosis === 'off') Object.assign(process.env, { NODE_ENV: 'production' });
const { port } = await host.listen({
  options: { secret: SECRET },
  onHostError: () => undefined,
  handler: () => undefined,
});
Object.assign(process.env, { NODE_ENV: '' });

process.on('message', () => process.send!({ rss: process.memoryUsage.rss() }));
process.once('disconnect', () => process.exit());
process.send!({ port });
