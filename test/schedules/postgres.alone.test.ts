/** The proxy and the suite on a real PostgreSQL, in a short form. */
import { connect } from 'node:net';
import { once } from 'node:events';
import type { TestSchedulesOptions } from '@paylink/testing/schedules';
import { Client } from 'pg';
import { describe, expect, it } from 'vitest';
import { shopAt, sourceOf, testSchedules, trySchedules } from './explore.js';
import { url } from './postgres.js';
import { openTapped } from './taps.js';

const module = shopAt('sql');
/** Counts what would keep the merchant's test process alive: the proxies' ports, and processes. */
const openResources = () =>
  process.getActiveResourcesInfo().filter((name) => /^(TCPServer|Process)Wrap$/.test(name)).length;

it(
  'fails the test that finds a fault, with its story',
  { tags: 'Q20', timeout: 120_000 },
  async () => {
    const before = openResources();
    process.env['DESIGN'] = 'a lock in memory';
    const runs: (() => Promise<void>)[] = [];
    const add: TestSchedulesOptions['test'] = (_, run) => runs.push(run);
    testSchedules({ test: add, module, databaseUrl: url });
    await expect(runs[0]!()).rejects.toThrow(
      /^Two deliveries both credit[^]*\nA {2}UPDATE orders[^]*\nLet one write decide/,
    );
    await expect.poll(openResources).toBe(before);
  },
);

it('says that a database without a wire is not tested', async () => {
  const notes: string[] = [];
  for (const databaseUrl of [
    'libsql://shop.turso.io',
    'mongodb://localhost/shop',
    'redis://localhost',
  ]) {
    const runs: Parameters<TestSchedulesOptions['test']>[1][] = [];
    testSchedules({ test: (_, run) => runs.push(run), module, databaseUrl });
    for (const run of runs) await run({ skip: (note: string) => notes.push(note) });
  }
  expect(notes).toHaveLength(6);
  expect(notes[2]).toMatch(/^not tested: .*MongoDB speaks none/);
});

it('says that sequences are left out, if the time limit ends them', async () => {
  process.env['DESIGN'] = 'one write';
  const runs: Parameters<TestSchedulesOptions['test']>[1][] = [];
  const limits = { callers: 3, timeLimit: 3_000 };
  testSchedules({ test: (_, run) => runs.push(run), module, databaseUrl: url, ...limits });
  const notes: string[] = [];
  await runs[0]!({ skip: (note: string) => notes.push(note) });
  expect(notes).toEqual([expect.stringMatching(/^not tested: .*the time limit/)]);
});

it.each([
  [{ databaseUrl: 'postgres://u:secret@127.0.0.1:1/shop' }, /^PostgreSQL at 127.0.0.1:1 cannot/],
  [{ databaseUrl: `${url}?sslmode=require` }, /asked for TLS, which was refused/],
  [{ databaseUrl: 'oracle://u:secret@localhost/shop' }, /must be a URL/],
  [{ databaseUrl: 'postgres://u:secret@localhost/shop?host=/tmp' }, /must name one host/],
  [{ module: sourceOf('unreachable') }, /unreachable\.ts cannot be used: AggregateError$/],
  [{ module: 'missing.js' }, /missing\.js does not exist/],
])('refuses %j with a sentence, no password and no process left', async (changes, sentence) => {
  const before = openResources();
  const options = { module, databaseUrl: url, ...changes };
  const error = (await trySchedules(options).catch((thrown: unknown) => thrown)) as Error;
  expect(error).toMatchObject({ code: 'misconfigured' });
  expect(error.message).toMatch(sentence);
  expect(error.message).not.toContain('secret');
  await expect.poll(openResources).toBeLessThanOrEqual(before);
});

describe('the proxy', () => {
  it('changes no byte of queries, COPY, large rows, errors, notices and cancelled statements', async () => {
    const tapped = await openTapped(url);
    const client = new Client({ connectionString: tapped.url });
    client.on('error', () => undefined);
    await client.connect();
    await client.query('CREATE TEMP TABLE t (id int, body text); SELECT 1; SELECT 2');
    await client.query('INSERT INTO t VALUES ($1, $2)', [1, 'x'.repeat(3_000_000)]);
    const { rows } = await client.query<{ body: string }>('SELECT body FROM t');
    expect(rows[0]!.body).toHaveLength(3_000_000);
    await client.query({ name: 'kept', text: 'SELECT $1::int + 1', values: [1] });
    await client.query({ name: 'kept', text: 'SELECT $1::int + 1', values: [2] });
    await expect(client.query('SELECT 1 / 0')).rejects.toThrow('division');
    await client.query("DO $$ BEGIN RAISE NOTICE 'é'; END $$");
    await client.query('COPY t TO STDOUT').catch(() => undefined);
    const slow = client.query('SELECT pg_sleep(60)');
    const running = "SELECT 1 FROM pg_stat_activity WHERE query ~ '^SELECT pg_sleep'";
    const watcher = new Client({ connectionString: url });
    await watcher.connect();
    // A cancel before the statement runs would cancel nothing.
    await expect.poll(async () => (await watcher.query(running)).rowCount).toBe(1);
    await watcher.end();
    const { processID, secretKey } = client as unknown as { processID: number; secretKey: number };
    const cancel = connect(Number(new URL(tapped.url).port), '127.0.0.1');
    const request = Buffer.alloc(16);
    [16, 80_877_102, processID].forEach((value, at) => request.writeInt32BE(value, at * 4));
    request.writeInt32BE(secretKey, 12);
    cancel.write(request);
    await expect(slow).rejects.toThrow('canceling');
    // The bytes behind the error may still be on their way, and an end would lose them.
    await client.query('SELECT 1');
    await client.end();
    const { bytes, before, behind } = await tapped.end();
    expect(bytes).toBeGreaterThan(6_000_000);
    expect(behind.toSorted()).toEqual(before.toSorted());
  });

  it.each([
    ['half a message', Buffer.from([0, 0, 0])],
    ['another protocol', Buffer.from('GET / HTTP/1.1\r\n\r\n')],
  ])('survives %s', async (_, bytes) => {
    const tapped = await openTapped(url);
    const client = connect(Number(new URL(tapped.url).port), '127.0.0.1');
    client.on('error', () => undefined);
    client.write(bytes);
    const closed = once(client, 'close');
    if (bytes.length === 3) client.end();
    client.resume();
    await closed;
    const next = new Client({ connectionString: tapped.url });
    await next.connect();
    expect((await next.query('SELECT 1')).rowCount).toBe(1);
    await next.end();
    await tapped.end();
  });
});
