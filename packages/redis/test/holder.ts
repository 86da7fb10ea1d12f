/**
 * A process to freeze, continue or kill: it takes a lease, reports it, and waits in the handler.
 */
import { redisStore } from '../src/index.js';
import { connect } from './clients.js';

const [port, key, leaseMs, turn = key] = process.argv.slice(2) as [string, string, string, string?];
const connected = await connect('ioredis', Number(port));
const store = redisStore(connected.client, { leaseMs: Number(leaseMs) });

const goOn = new Promise<void>((resolve) => process.once('message', () => resolve()));
let result: string;
try {
  result = await store.run(
    key,
    async ({ fencingToken }) => {
      process.send!({ fencingToken });
      await goOn;
    },
    { signal: new AbortController().signal, turn },
  );
} catch (error) {
  result = (error as Error).message;
}
process.send!({ result });
connected.close();
process.disconnect();
