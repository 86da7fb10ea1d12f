/**
 * A receiver in a process of its own: with its diagnosis, or without as in production. Forked by
 * receiver-process.ts.
 */
import { SECRET } from '../adapters/deliveries.js';
import { hosts } from '../adapters/hosts/index.js';

const [name, diagnosis] = process.argv.slice(2);
const host = hosts.find((one) => one.name === name)!;
console.warn = console.error = () => undefined;

// Only while the receiver is made: a framework that looks at it too must be the same in both
// processes.
if (diagnosis === 'off') Object.assign(process.env, { NODE_ENV: 'production' });
const { port } = await host.listen({
  options: { secret: SECRET },
  onError: () => undefined,
  handler: () => undefined,
});
Object.assign(process.env, { NODE_ENV: '' });

process.on('message', () => process.send!({ rss: process.memoryUsage.rss() }));
process.once('disconnect', () => process.exit());
process.send!({ port });
