import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  createOrder,
  createTables,
  ENGINES,
  openDatabase,
  readBooks,
  startEngine,
  STEPS,
  type Database,
  type Engine,
  type Step,
} from './engines.js';
import { bundleScript, type Bundle } from '../servers/bundle.js';
import { startService } from './service.js';

const ROLES = ['webhook', 'settle', 'reconcile', 'webhook'] as const;
const ORDERS = 40;

let script: Bundle;
beforeAll(async () => {
  script = await bundleScript(new URL('shop-process.ts', import.meta.url));
});
afterAll(() => script.remove());

/** Runs a process of the shop. Resolves with the signal that ended it, and its replies. */
async function runProcess(args: readonly string[]) {
  const stdio = ['ignore', 'pipe', 'pipe'] as const;
  const child = spawn(process.execPath, [script.path, ...args], { stdio: [...stdio] });
  let replies = '';
  let errors = '';
  child.stdout.on('data', (piece: Buffer) => (replies += piece.toString()));
  child.stderr.on('data', (piece: Buffer) => (errors += piece.toString()));
  const [code, signal] = (await once(child, 'close')) as [number | null, string | null];
  if (code !== 0 && signal === null) throw new Error(errors);
  return { signal, acknowledged: replies.split('\n').slice(0, -1) };
}

describe.each(ENGINES)('P05, O16, I03, I04: four processes on %s', (name) => {
  let engine: Engine;
  let db: Database;
  let service: Awaited<ReturnType<typeof startService>>;

  beforeAll(async () => {
    engine = await startEngine(name);
    db = openDatabase(engine);
    await createTables(engine, db);
    service = await startService();
  });
  afterAll(async () => {
    service?.close();
    await db?.close();
    await engine?.close();
  });

  const start = (role: string, step: Step | 'none', most = 3) => {
    const passes = Math.floor(Math.random() * most);
    return runProcess([name, engine.url, service.baseUrl, role, step, `${passes}`]);
  };

  it.each(STEPS)(
    'credit each order once, one killed before and one beside the others %s',
    { timeout: 120_000 },
    async (step) => {
      await db.run('DELETE FROM orders');
      await db.run('DELETE FROM ledger');
      for (let index = 0; index < ORDERS; index++) await createOrder(db, `order-${index}`);
      // Alone, because others may win every order before it reaches its step.
      const killed = await start(ROLES[0], step, 1);
      expect(killed.signal).toBe('SIGKILL');
      const others = ROLES.slice(1).map((role, index) => start(role, index === 0 ? step : 'none'));
      const ended = [killed, ...(await Promise.all(others))];
      // The row of an order that was acknowledged said paid before the reply.
      const acknowledged = new Set(ended.flatMap((each) => each.acknowledged));
      const books = await readBooks(db);
      expect(books.wrong).toEqual([]);
      expect(books.paid).toBeGreaterThanOrEqual(acknowledged.size);
      const { acknowledged: rest } = await start('reconcile', 'none');
      expect(rest.length).toBe(ORDERS);
      expect(await readBooks(db)).toEqual({ orders: ORDERS, paid: ORDERS, wrong: [] });
    },
  );
});
