/** The proxy, between a stand-in for a client and one for PostgreSQL. */
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { Changes } from '../src/schedules/changes.js';
import { readDatabase } from '../src/schedules/database.js';
import { Program } from '../src/schedules/program.js';
import { Proxy } from '../src/schedules/proxy.js';
import { Round } from '../src/schedules/round.js';
import { extended, message, STARTUP } from './postgres-messages.js';

it.each([
  ['postgres://shop@[::1]/shop', '::1', 5432],
  ['mysql+pymysql://shop@db.example/shop', 'db.example', 3306],
  ['http://localhost:54321', 'localhost', 54321],
])('reads from %s the host %s and the port %d', (url, host, port) => {
  expect(readDatabase(url)).toMatchObject({ host, port });
});

it('opens the database to 127.0.0.1 alone', async () => {
  const proxy = await Proxy.open(readDatabase('postgres://db.example/shop'), new Changes());
  const { hostname, port } = new URL(proxy.url);
  expect(hostname).toBe('127.0.0.1');
  const client = connect(Number(port), '::1');
  // `once` rejects if the socket fails.
  await expect(once(client, 'connect')).rejects.toThrow(/::1/);
  client.destroy();
  proxy.close();
});

it('holds the next ten rounds after a reply, because a credit may go on behind it', async () => {
  const proxy = await Proxy.open(readDatabase('postgres://127.0.0.1:1/shop'), new Changes());
  proxy.hold();
  proxy.nextNumber();
  proxy.holdFewMore();
  const isHeld = (number: number): boolean => proxy.holds(Object.assign(new Round(), { number }));
  expect([1, 10, 11].map(isHeld)).toEqual([true, true, false]);
  proxy.close();
});

it('holds the rounds of a program behind the first that names the order, such as a commit', async () => {
  let isHeld = (_: Round): boolean => false;
  const hold = (pick: typeof isHeld): void => void (isHeld = pick);
  const options = { to: 'http://127.0.0.1:1/', secret: 'a-secret-of-the-program' };
  const proxy = { hold, holdFewMore: () => undefined };
  const program = Reflect.construct(Program, [options, new Changes(), proxy]) as Program;
  program.start({ reference: 'order-1', amount: 1, currency: 'XOF', tenant: null });
  const rounds = ['SELECT 1', 'SELECT paid FROM orders: order-1', 'COMMIT'];
  const parts = rounds.map((text) => new Round([], [Buffer.from(text)]));
  expect(parts.map((round) => isHeld(round))).toEqual([false, true, true]);
  await expect.poll(() => program.isOver).toBe(true);
});

/** Opens a proxy with two clients that have logged in, for a PostgreSQL that says nothing. */
async function openProxy() {
  const sessions: Socket[] = [];
  const server = createServer((socket) => void sessions.push(socket.resume())).listen(
    0,
    '127.0.0.1',
  );
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const changes = new Changes();
  const proxy = await Proxy.open(readDatabase(`postgres://127.0.0.1:${port}/shop`), changes);
  proxy.hold();
  const clients: { socket: Socket; received: string }[] = [];
  for (const at of [0, 1]) {
    const client = { socket: connect(Number(new URL(proxy.url).port), '127.0.0.1'), received: '' };
    client.socket.on('data', (chunk) => (client.received += chunk.toString('latin1')));
    client.socket.write(STARTUP);
    await expect.poll(() => sessions[at]).toBeDefined();
    sessions[at]!.write(message('Z', 'I'));
    await expect.poll(() => client.received).toContain('Z');
    clients.push(Object.assign(client, { received: '' }));
  }
  onTestFinished(() => {
    proxy.close();
    server.close();
  });
  const held = async (count: number): Promise<Round> => {
    await changes.until(() => proxy.held.length === count);
    return proxy.held.at(-1)!;
  };
  const nextChange = (): Promise<boolean> => {
    let looks = 0;
    return changes.until(() => looks++ > 0);
  };
  return { proxy, changes, clients, sessions, held, nextChange };
}

it('keeps a lost answer from the client, and no answer after it', async () => {
  const { proxy, changes, clients, sessions, held } = await openProxy();
  const [client] = clients;
  for (const [isLost, tag] of [
    [true, 'UPDATE 1\0'],
    [false, 'UPDATE 0\0'],
  ] as const) {
    client!.socket.write(message('Q', 'UPDATE orders SET paid = true\0'));
    (await held(1)).connection.release(isLost);
    sessions[0]!.write(Buffer.concat([message('C', tag), message('Z', 'I')]));
    await changes.until(() => proxy.unanswered.length === 0);
  }
  await expect.poll(() => client!.received).toMatch(/Z[^]*I$/);
  expect(client!.received).toMatch(/UPDATE 0/);
  expect(client!.received).not.toMatch(/UPDATE 1/);
});

const sql = 'UPDATE orders SET paid = true';
it('knows that a round may wait for the locks of another one that has begun', async () => {
  const { proxy, clients, held } = await openProxy();
  const [begun, waiting] = clients;
  begun!.socket.write(Buffer.concat([...extended(sql), message('S', '')]));
  const { connection } = await held(1);
  waiting!.socket.write(message('Q', `${sql}\0`));
  const round = await held(2);
  // PostgreSQL commits a simple query at its end.
  expect([connection.canBegin, round.connection.canBegin]).toEqual([true, false]);
  expect(proxy.mayLockOut(round)).toBe(false);
  connection.begin();
  expect(proxy.mayLockOut(round)).toBe(true);
});

it('gives a client the whole answer to a begun round, also one that came in pieces', async () => {
  const { clients, sessions, held, nextChange } = await openProxy();
  const [client] = clients;
  client!.socket.write(Buffer.concat([...extended(sql), message('S', '')]));
  const round = await held(1);
  round.connection.begin();
  const tag = message('C', 'INSERT 0 1\0');
  const pieces = [message('1', ''), message('2', ''), tag.subarray(0, 9), tag.subarray(9)];
  for (const piece of pieces) {
    sessions[0]!.write(piece);
    await nextChange();
  }
  expect(round.notRun).toBe(0);
  expect(client!.received).toBe('');
  round.connection.release(false);
  sessions[0]!.write(message('Z', 'I'));
  const whole = Buffer.concat([...pieces, message('Z', 'I')]).toString('latin1');
  await expect.poll(() => client!.received).toBe(whole);
});

it('passes a long answer to a client that reads slowly', async () => {
  const { clients, sessions, held } = await openProxy();
  const [client] = clients;
  client!.socket.write(message('Q', 'SELECT note FROM orders\0'));
  client!.socket.pause();
  (await held(1)).connection.release(false);
  const answer = message('D', 'x'.repeat(20_000_000));
  sessions[0]!.write(answer);
  client!.socket.resume();
  await expect.poll(() => client!.received.length).toBe(answer.length);
});

it('counts the locks of a transaction as free as soon as it has ended', async () => {
  const { changes, proxy, clients, sessions, held } = await openProxy();
  const mayKeepLocks: boolean[] = [];
  for (const [statement, state] of [
    [`BEGIN; ${sql}`, 'T'],
    ['COMMIT', 'I'],
  ] as const) {
    clients[0]!.socket.write(message('Q', `${statement}\0`));
    const { connection } = await held(1);
    connection.release(false);
    sessions[0]!.write(message('Z', state));
    await changes.until(() => proxy.unanswered.length === 0);
    mayKeepLocks.push(connection.mayKeepLocks);
  }
  expect(mayKeepLocks).toEqual([true, false]);
});

it('lists the rounds of several connections in the order in which they came', async () => {
  const { proxy, clients, held } = await openProxy();
  for (const [at, client] of clients.toReversed().entries()) {
    client.socket.write(message('Q', `UPDATE orders SET number = ${at}\0`));
    await held(at + 1);
  }
  expect(proxy.held.map(({ statements }) => statements)).toEqual([
    ['UPDATE orders SET number = 0'],
    ['UPDATE orders SET number = 1'],
  ]);
});

it('takes the loss of its connection for the answer to a round', async () => {
  const { proxy, changes, clients, sessions, held } = await openProxy();
  clients[0]!.socket.write(message('Q', `${sql}\0`));
  const round = await held(1);
  round.connection.release(false);
  sessions[0]!.destroy();
  await changes.until(() => proxy.unanswered.length === 0);
  expect(round).toMatchObject({ isAnswered: true, error: 'connection lost' });
});

it('holds no round after the end of a try', async () => {
  const { proxy, changes, clients } = await openProxy();
  proxy.releaseAll();
  clients[0]!.socket.write(message('Q', `${sql}\0`));
  expect(await changes.until(() => proxy.unanswered.length === 1)).toBe(true);
});

it('counts the locks of a connection that is gone as free, as soon as its server knows', async () => {
  const { proxy, changes, clients, sessions, held } = await openProxy();
  clients[0]!.socket.write(message('Q', 'BEGIN; UPDATE orders SET paid = true\0'));
  const { connection } = await held(1);
  connection.release(false);
  sessions[0]!.write(Buffer.concat([message('C', 'UPDATE 1\0'), message('Z', 'T')]));
  await changes.until(() => proxy.unanswered.length === 0);
  expect(connection.mayKeepLocks).toBe(true);
  proxy.cut();
  expect(proxy.isEnding).toBe(true);
  await changes.until(() => proxy.isUnused);
  expect([connection.mayKeepLocks, connection.isInTransaction]).toEqual([false, false]);
  expect(proxy.isEnding).toBe(false);
});

it('goes on at once if the change that code waits for has happened', async () => {
  expect(await new Changes().until(() => true, 0)).toBe(true);
});
