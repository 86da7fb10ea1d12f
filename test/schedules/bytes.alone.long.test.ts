/** The proxy changes no byte of logins, of COPY FROM STDIN, of MariaDB and of HTTP. */
import { constants, generateKeyPairSync, privateDecrypt } from 'node:crypto';
import { once } from 'node:events';
import { createServer as createHttpServer, request, type IncomingMessage } from 'node:http';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { createConnection, createPool } from 'mysql2/promise';
import { Client } from 'pg';
import { afterAll, expect, it } from 'vitest';
import { startMariaDb } from '../servers/mariadb.js';
import { url } from './postgres.js';
import { openTapped } from './taps.js';

const mariadb = await startMariaDb();
afterAll(() => mariadb.close());

/** The connection of pg, whose types leave COPY out. */
interface Connection {
  query(sql: string): void;
  sendCopyFromChunk(chunk: Buffer): void;
  endCopyFrom(): void;
  sendCopyFail(reason: string): void;
}

it('passes COPY FROM STDIN, also one that the client gives up', async () => {
  const tapped = await openTapped(url);
  const client = new Client({ connectionString: tapped.url });
  await client.connect();
  await client.query('CREATE TEMP TABLE copied (id int, body text)');
  /** A query that answers the server's request for data. */
  const copy = (send: (connection: Connection) => void): Promise<string | undefined> =>
    new Promise((resolve) => {
      client.query({
        submit: (connection: Connection) => connection.query('COPY copied FROM STDIN'),
        handleCopyInResponse: send,
        handleError: ({ message }: Error) => resolve(message),
        handleCommandComplete: () => undefined,
        handleReadyForQuery: () => resolve(undefined),
      } as never);
    });
  const rows = Array.from({ length: 50 }, (_, id) => `${id}\t${'x'.repeat(20_000)}\n`);
  const error = await copy((connection) => {
    for (const row of rows) connection.sendCopyFromChunk(Buffer.from(row));
    connection.endCopyFrom();
  });
  expect(error).toBeUndefined();
  expect(await copy((connection) => connection.sendCopyFail('enough'))).toMatch(/enough/);
  expect((await client.query('SELECT id FROM copied')).rowCount).toBe(50);
  await client.end();
  const { bytes, before, behind } = await tapped.end();
  expect(bytes).toBeGreaterThan(1_000_000);
  expect(behind).toEqual(before);
});

it('passes the challenge of SCRAM, and its refusal', async () => {
  const admin = new Client({ connectionString: url });
  await admin.connect();
  await admin.query(`
    SET password_encryption = 'scram-sha-256';
    CREATE USER scram PASSWORD 'a pass'`);
  const { rows } = await admin.query<{ hba_file: string }>('SHOW hba_file');
  await admin.query(`
    COPY (VALUES ('host all scram 127.0.0.1/32 scram-sha-256'), ('host all all 127.0.0.1/32 trust'))
      TO '${rows[0]!.hba_file}';
    SELECT pg_reload_conf()`);
  const asScram = (address: string, password: string): Promise<Client> => {
    const at = Object.assign(new URL(address), { username: 'scram', password });
    const client = new Client({ connectionString: at.href });
    return client.connect().then(() => client);
  };
  // The server reads the file some time after it was told to.
  await expect.poll(() => asScram(url, 'other').catch(String)).toMatch(/authentication failed/);
  const tapped = await openTapped(url);
  const client = await asScram(tapped.url, 'a pass');
  expect((await client.query('SELECT current_user')).rows).toEqual([{ current_user: 'scram' }]);
  await client.end();
  await expect(asScram(tapped.url, 'other')).rejects.toThrow('authentication failed');
  await admin.end();
  const { before, behind } = await tapped.end();
  expect(before).toHaveLength(2);
  expect(behind).toEqual(before);
});

/** Answers one login with caching_sha2_password, which MariaDB does not have. */
async function startCachingServer(isKnown: boolean) {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
  const passwords: string[] = [];
  const nonce = Buffer.from('abcdefghijklmnopqrst');
  const packet = (number: number, ...parts: (Buffer | string | readonly number[])[]): Buffer => {
    const body = Buffer.concat(parts.map((part) => Buffer.from(part as Buffer)));
    const header = Buffer.alloc(4);
    header.writeUIntLE(body.length, 0, 3);
    header[3] = number;
    return Buffer.concat([header, body]);
  };
  const OK = [0, 0, 0, 2, 0, 0, 0];
  const next = async (socket: Socket) => ((await once(socket, 'data')) as [Buffer])[0].subarray(4);
  const logIn = async (socket: Socket): Promise<void> => {
    socket.write(
      packet(
        ...([0, [10], '8.4.0\0', [1, 0, 0, 0], nonce.subarray(0, 8), [0]] as const),
        ...[[0x01, 0x82, 45, 2, 0, 0x08, 0, 21], Array.from({ length: 10 }, () => 0)],
        ...[nonce.subarray(8), '\0caching_sha2_password\0'],
      ),
    );
    await next(socket);
    if (isKnown) socket.write(Buffer.concat([packet(2, [1, 3]), packet(3, OK)]));
    else {
      socket.write(packet(2, [1, 4]));
      expect([...(await next(socket))]).toEqual([2]);
      socket.write(packet(4, [1], publicKey.export({ type: 'spki', format: 'pem' })));
      const padding = constants.RSA_PKCS1_OAEP_PADDING;
      const hidden = privateDecrypt({ key: privateKey, padding }, await next(socket));
      passwords.push(String(hidden.map((byte, at) => byte ^ nonce[at % nonce.length]!)));
      socket.write(packet(6, OK));
    }
    expect(String(await next(socket))).toBe('\u0003DO 1');
    socket.write(packet(1, OK));
  };
  const server = createServer((socket) => void logIn(socket)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { server, passwords, url: `mysql://shop:a%20pass@127.0.0.1:${port}/shop` };
}

it.each([
  ['that the server knows', true, []],
  ['that the client encrypts for the server', false, ['a pass\0']],
])('passes a caching_sha2_password %s', async (_, isKnown, passwords) => {
  const caching = await startCachingServer(isKnown);
  const tapped = await openTapped(caching.url);
  const connection = await createConnection({ uri: tapped.url });
  await connection.query('DO 1');
  connection.destroy();
  caching.server.close();
  const { before, behind } = await tapped.end();
  expect(caching.passwords).toEqual(passwords);
  expect(behind).toEqual(before);
});

it('passes prepared, repeated and large statements of MariaDB', async () => {
  const tapped = await openTapped(mariadb.url);
  const pool = createPool({ uri: tapped.url, connectionLimit: 2, multipleStatements: true });
  await pool.query('CREATE TEMPORARY TABLE t (body longtext); SELECT 1; SELECT 2');
  // Below max_allowed_packet: a larger statement makes the server reset the connection.
  await pool.execute('SELECT ? AS body', ['x'.repeat(10_000_000)]);
  for (let value = 0; value < 3; value += 1) await pool.execute('SELECT ? + 1', [value]);
  await expect(pool.query('SELECT * FROM nowhere')).rejects.toThrow('nowhere');
  await pool.query("DO 1; CALL nothing('é')").catch(() => undefined);
  await pool.query('SELECT REPEAT(?, 5000000)', ['y']);
  await pool.end();
  const { bytes, before, behind } = await tapped.end();
  expect(bytes).toBeGreaterThan(5_000_000);
  expect(behind).toEqual(before);
});

it('passes chunked, long and empty messages of HTTP', async () => {
  const server = createHttpServer((asked, reply) => {
    const type = { 'content-type': 'application/json', 'content-range': '*/*' };
    if (asked.method === 'DELETE') reply.writeHead(204, type).end();
    else if (asked.method === 'HEAD') reply.writeHead(200, { ...type, 'content-length': 9 }).end();
    else asked.pipe(reply.writeHead(200, type));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const tapped = await openTapped(`http://127.0.0.1:${(server.address() as AddressInfo).port}/db`);
  const send = async (method: string, ...body: readonly string[]): Promise<string> => {
    const { port } = new URL(tapped.url);
    const sent = request({ port, host: '127.0.0.1', method });
    // One piece has a Content-Length. Several are chunked.
    for (const piece of body.slice(0, -1)) sent.write(piece);
    sent.end(body.at(-1));
    const [reply] = (await once(sent, 'response')) as [IncomingMessage];
    return Buffer.concat((await reply.toArray()) as Buffer[]).toString();
  };
  const long = 'x'.repeat(600_000);
  expect(await send('POST', long)).toBe(long);
  const chunks = ['[', long, '\r\n\r\n0\r\n\r\n', ']'];
  expect(await send('POST', ...chunks)).toBe(chunks.join(''));
  expect(await send('DELETE')).toBe('');
  expect(await send('HEAD')).toBe('');
  expect(await send('PATCH', '{}')).toBe('{}');
  server.closeAllConnections();
  server.close();
  const { bytes, before, behind } = await tapped.end();
  expect(bytes).toBeGreaterThan(2_000_000);
  expect(behind).toEqual(before);
});
