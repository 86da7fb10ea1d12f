/**
 * A stand-in for PostgREST, which Supabase puts in front of PostgreSQL. It turns the calls of these
 * tests into the SQL that PostgREST documents: one transaction for each request, as the role of the
 * key. It refuses every other call.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { DatabaseError, escapeIdentifier, Pool } from 'pg';

export interface Postgrest {
  /** For `createClient` of supabase-js. */
  readonly url: string;
  close(): Promise<void>;
}

/** Keys by the roles that Supabase gives them. */
export const KEYS = { service_role: 'sb_secret_for_tests', anon: 'sb_publishable_for_tests' };

/** The roles of a new Supabase project, where a table is created without rights for them. */
export const ROLES = `
  CREATE ROLE anon NOLOGIN;
  CREATE ROLE authenticated NOLOGIN;
  CREATE ROLE service_role NOLOGIN BYPASSRLS`;

export async function startPostgrest(connectionString: string): Promise<Postgrest> {
  const pool = new Pool({ connectionString, max: 10 });
  pool.on('error', () => undefined);
  const server = createServer((request, response) => {
    void answer(pool, request).then(({ status, rows, count, body }) => {
      const type = 'application/json; charset=utf-8';
      const range = `${rows > 0 ? `0-${rows - 1}` : '*'}/${count}`;
      response.writeHead(status, { 'content-type': type, 'content-range': range });
      response.end(status === 204 ? undefined : body);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections();
      server.close();
      await pool.end();
    },
  };
}

interface Reply {
  readonly status: number;
  /** Rows that were read or changed. */
  readonly rows: number;
  /** The same, if the request asks for `count=exact`. */
  readonly count: number | '*';
  readonly body: string;
}

class Refusal extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

async function answer(pool: Pool, request: IncomingMessage): Promise<Reply> {
  const body = await textOf(request);
  const client = await pool.connect();
  try {
    const role = Object.entries(KEYS).find(([, key]) => key === request.headers['apikey'])?.[0];
    if (role === undefined) throw new Refusal(401, '', 'Invalid API key');
    const prefer = String(request.headers['prefer'] ?? '');
    const called = /^\/rest\/v1\/rpc\/(\w+)$/.exec(request.url ?? '')?.[1];
    const { text, values } =
      called === undefined ? statementOf(request, prefer, body) : callOf(called, body);
    await client.query(request.method === 'GET' ? 'BEGIN READ ONLY' : 'BEGIN');
    await client.query(`SET LOCAL ROLE ${role}`);
    const rows =
      "coalesce(json_agg(source), '[]')::text AS all, (json_agg(source)->0)::text AS one";
    const { rows: found } = await client.query<{ all: string; one: string; count: number }>(
      `WITH source AS (${text}) SELECT ${rows}, count(*)::int FROM source`,
      values,
    );
    const { all, one, count } = found[0]!;
    const isOne = request.headers.accept === 'application/vnd.pgrst.object+json';
    if (isOne && count !== 1)
      throw new Refusal(406, 'PGRST116', 'Cannot coerce the result to a single JSON object');
    await client.query('COMMIT');
    if (called !== undefined)
      return {
        status: 200,
        rows: 0,
        count: '*',
        body: JSON.stringify((JSON.parse(one) as { value: unknown }).value),
      };
    const isMinimal = request.method !== 'GET' && !prefer.includes('return=representation');
    return {
      status: isMinimal ? (request.method === 'POST' ? 201 : 204) : 200,
      rows: count,
      count: prefer.includes('count=exact') ? count : '*',
      body: isMinimal ? '' : isOne ? one : all,
    };
  } catch (error) {
    await client.query('ROLLBACK');
    const { message, code } = error as Error & { readonly code?: string };
    return {
      status: statusOf(error),
      rows: 0,
      count: '*',
      body: JSON.stringify({ code, message }),
    };
  } finally {
    client.release();
  }
}

/** The statuses of https://docs.postgrest.org/en/stable/references/errors.html */
function statusOf(error: unknown): number {
  if (error instanceof Refusal) return error.status;
  const code = error instanceof DatabaseError ? (error.code ?? '') : '';
  if (code === '42501') return 403;
  if (code === '23505') return 409;
  return /^(22|23|42)/.test(code) ? 400 : 500;
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request.setEncoding('utf8')) text += chunk as string;
  return text;
}

interface Statement {
  readonly text: string;
  readonly values: unknown[];
}

/** A call of a function that returns one value. */
function callOf(name: string, body: string): Statement {
  const given = Object.entries(JSON.parse(body) as Record<string, unknown>);
  const list = given.map(([key], index) => `${escapeIdentifier(key)} => $${index + 1}`).join(', ');
  const values = given.map(([, value]) => String(value));
  return { text: `SELECT ${escapeIdentifier(name)}(${list}) AS value`, values };
}

const OPERATORS: Readonly<Record<string, string>> = {
  eq: '=',
  neq: '<>',
  gt: '>',
  gte: '>=',
  lt: '<',
  lte: '<=',
};
const RESERVED = new Set(['select', 'order', 'limit', 'offset', 'columns', 'on_conflict']);

function statementOf(
  { method, url = '' }: IncomingMessage,
  prefer: string,
  body: string,
): Statement {
  const { pathname, searchParams: query } = new URL(url, 'http://localhost');
  const table = escapeIdentifier(/^\/rest\/v1\/(\w+)$/.exec(pathname)?.[1] ?? '');
  const values: unknown[] = [];
  const bind = (value: unknown): string => `$${values.push(value)}`;
  const columns = (query.get('select') ?? '*').split(',').map((name) => columnOf(table, name));
  const conditions = [...query]
    .filter(([name]) => !RESERVED.has(name))
    .map(([name, filter]) => conditionOf(columnOf(table, name), filter, bind));
  const where = conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`;
  if (method === 'GET') {
    const order = query
      .get('order')
      ?.split(',')
      .map((each) => orderOf(table, each));
    const by = order === undefined ? '' : `ORDER BY ${order.join(', ')}`;
    const page = `LIMIT ${Number(query.get('limit') ?? 1_000)} OFFSET ${Number(query.get('offset') ?? 0)}`;
    return { text: `SELECT ${columns.join(', ')} FROM ${table} ${where} ${by} ${page}`, values };
  }
  if (method === 'DELETE') {
    // PostgREST itself would delete each row.
    if (where === '') throw new Refusal(400, '21000', 'DELETE requires a WHERE clause');
    return { text: `DELETE FROM ${table} ${where} RETURNING ${columns.join(', ')}`, values };
  }
  const names = Object.keys(JSON.parse(body) as object).map(escapeIdentifier);
  const record = `json_populate_record(NULL::${table}, ${bind(body)})`;
  const returning = `RETURNING ${columns.join(', ')}`;
  if (method === 'PATCH') {
    const set = names.map((name) => `${name} = body.${name}`).join(', ');
    const text = `UPDATE ${table} SET ${set} FROM ${record} AS body ${where} ${returning}`;
    return { text, values };
  }
  if (method !== 'POST') throw new Refusal(405, 'PGRST117', `no ${method} in this stand-in`);
  const conflict = query.get('on_conflict');
  const merge = names.map((name) => `${name} = EXCLUDED.${name}`).join(', ');
  const upsert =
    conflict !== null && prefer.includes('resolution=merge-duplicates')
      ? `ON CONFLICT (${escapeIdentifier(conflict)}) DO UPDATE SET ${merge}`
      : '';
  const text = `INSERT INTO ${table} (${names.join(', ')}) SELECT ${names.join(', ')} FROM ${record} ${upsert} ${returning}`;
  return { text, values };
}

const columnOf = (table: string, name: string): string =>
  `${table}.${name === '*' ? '*' : escapeIdentifier(name)}`;

function orderOf(table: string, order: string): string {
  const [name = '', direction = 'asc'] = order.split('.');
  return `${columnOf(table, name)} ${direction === 'desc' ? 'DESC' : 'ASC'}`;
}

function conditionOf(column: string, filter: string, bind: (value: string) => string): string {
  const [, not = '', operator = '', value = ''] = /^(not\.)?(\w+)\.(.*)$/s.exec(filter) ?? [];
  const negation = not === '' ? '' : 'NOT ';
  if (operator === 'is' && value === 'null') return `${negation}${column} IS NULL`;
  const sign = OPERATORS[operator];
  if (sign === undefined) throw new Refusal(400, 'PGRST100', `no ${filter} in this stand-in`);
  return `${negation}${column} ${sign} ${bind(value)}`;
}
