/** Credits on databases over HTTP, of which each request is one transaction. */
import { once } from 'node:events';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, request } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, it, onTestFinished } from 'vitest';
import { startDynamoDbLocal } from '../../examples/databases/test/dynamodb-local.js';
import { startSupabase } from '../../examples/databases/test/supabase-server.js';
import { Changes } from '../../packages/testing/src/schedules/changes.js';
import { readDatabase } from '../../packages/testing/src/schedules/database.js';
import { Proxy } from '../../packages/testing/src/schedules/proxy.js';
import { BROKEN } from './designs.js';
import { explore, removeBundle, type Outcome } from './explore.js';
import { openTapped } from './taps.js';

const LIMIT = 120_000;
const EXAMPLES = new URL('../../examples/databases/', import.meta.url);

const supabase = await startSupabase();
const dynamoDb = await startDynamoDbLocal();
Object.assign(process.env, dynamoDb.env, { SUPABASE_SECRET_KEY: supabase.secretKey });
const { db } = await import('../../examples/databases/dynamodb.js');
afterAll(async () => {
  await removeBundle();
  db.destroy();
  await dynamoDb.close();
  await supabase.close();
});

type Options = Parameters<typeof explore>[1];

const DATABASES: Readonly<Record<string, Omit<Options, 'module'>>> = {
  supabase: {
    databaseUrl: supabase.url,
    databaseVariable: 'SUPABASE_URL',
    createOrder: ({ reference, amount, currency }) =>
      supabase.pool.query('INSERT INTO orders (reference, amount, currency) VALUES ($1, $2, $3)', [
        reference,
        amount,
        currency,
      ]),
  },
  dynamodb: {
    databaseUrl: dynamoDb.client.endpoint,
    databaseVariable: 'AWS_ENDPOINT_URL_DYNAMODB',
    createOrder: ({ reference, amount, currency }) =>
      db.put({
        TableName: 'orders',
        Item: { reference, amount, currency, createdAt: Date.now(), unpaid: 'yes' },
      }),
  },
};

const exploreOn = (name: string, module: URL, only?: 'orders'): Promise<Outcome> =>
  explore(name, { ...DATABASES[name]!, module: fileURLToPath(module), only });

it.each(Object.keys(DATABASES))(
  'accepts the recipe %s',
  { tags: 'Q20', timeout: LIMIT },
  async (name) => {
    const { faults, orders, cuts } = await exploreOn(name, new URL(`${name}.ts`, EXAMPLES));
    expect(faults).toEqual([]);
    expect(orders).toBeGreaterThan(3);
    expect(cuts).toBeGreaterThanOrEqual(12);
  },
);

it.each([
  ['supabase', ".is('paid_at', null);", ';', /^B {2}PATCH \/rest\/v1\/orders +1 row/m],
  ['dynamodb', ' AND attribute_not_exists(paidAt)', '', /^B {2}UpdateItem$/m],
])(
  'tells that the write of %s lost its condition',
  { tags: ['Q20', 'I03'], timeout: LIMIT },
  async (name, condition, without, line) => {
    const [before, after] = readFileSync(new URL(`${name}.ts`, EXAMPLES), 'utf8').split(condition);
    const copy = new URL(`broken-${name}.ts`, EXAMPLES);
    onTestFinished(() => rmSync(copy));
    writeFileSync(copy, `${before}${without}${after}`);
    const { faults, stories } = await exploreOn(name, copy, 'orders');
    expect(faults).toEqual([expect.stringMatching(BROKEN['a read, then a write'][1])]);
    expect(stories[0]).toMatch(line);
    expect(stories[0]).not.toMatch(/[0-9a-f]{8}-[0-9a-f]{4}/);
  },
);

it('passes chunked, long and empty messages unchanged, on connections that stay open', async () => {
  const server = createServer((asked, reply) => {
    const type = { 'content-type': 'application/json', 'content-range': '*/*' };
    if (asked.method === 'DELETE') reply.writeHead(204, type).end();
    else if (asked.method === 'HEAD') reply.writeHead(200, { ...type, 'content-length': 9 }).end();
    else asked.pipe(reply.writeHead(200, type));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const tapped = await openTapped(`http://127.0.0.1:${(server.address() as AddressInfo).port}/db`);
  const send = async (method: string, body: string | readonly string[]): Promise<string> => {
    const { port } = new URL(tapped.url);
    const sent = request({ port, host: '127.0.0.1', method });
    if (typeof body === 'string') sent.end(body);
    else {
      for (const part of body) sent.write(part);
      sent.end();
    }
    const [reply] = (await once(sent, 'response')) as [AsyncIterable<Buffer>];
    let text = '';
    for await (const part of reply) text += String(part);
    return text;
  };
  const long = 'x'.repeat(600_000);
  expect(await send('POST', long)).toBe(long);
  expect(await send('POST', ['[', long, '\r\n\r\n0\r\n\r\n', ']'])).toBe(
    `[${long}\r\n\r\n0\r\n\r\n]`,
  );
  expect(await send('DELETE', '')).toBe('');
  expect(await send('HEAD', '')).toBe('');
  expect(await send('PATCH', '{}')).toBe('{}');
  server.closeAllConnections();
  server.close();
  const { bytes, before, behind } = await tapped.end();
  expect(bytes).toBeGreaterThan(2_000_000);
  expect(behind).toEqual(before);
});

it.each([
  ['GET / HTTP/2.0\r\n\r\n', 'Your program does not speak HTTP/1.1.'],
  ['GET / HTTP/1.1\r\nUpgrade: websocket\r\n\r\n', /^Your program asked for a WebSocket/],
  ['POST / HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n', /impossible length/],
  ['POST / HTTP/1.1\r\nContent-Length: -9\r\n\r\n', /impossible length/],
  ['POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n', /impossible length/],
  ['x'.repeat(70_000), /impossible length/],
])('cuts a client off that sends %j', async (bytes, sentence) => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const database = readDatabase(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const proxy = await Proxy.open(database, new Changes());
  const client = connect(Number(new URL(proxy.url).port), '127.0.0.1');
  client.on('error', () => undefined).write(bytes);
  // `once` would reject if the socket fails before it closes.
  await new Promise((resolve) => client.once('close', resolve));
  expect([...proxy.notes]).toEqual([expect.stringMatching(sentence)]);
  proxy.close();
  server.close();
});
