/**
 * The commands of the Supabase CLI that the quick start runs. The CLI itself needs Docker. Here the
 * test's PostgreSQL is the database, and Deno runs each function behind one address, which asks for
 * a key of the project unless config.toml says otherwise.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import { parseEnv } from 'node:util';
import { Client } from 'pg';
import { KEYS } from '../../../examples/databases/test/postgrest.js';
import { freePort, untilReady } from '../../servers/starting.js';

/** The settings of the test, by the environment. */
const { DATABASE = '', POSTGREST = '', GATEWAY_PORT = '' } = process.env;
const CONFIG = 'supabase/config.toml';
const FUNCTIONS = 'supabase/functions';
const gateway = `http://127.0.0.1:${GATEWAY_PORT}`;

const COMMANDS: Readonly<Record<string, (options: readonly string[]) => unknown>> = {
  init() {
    mkdirSync('supabase', { recursive: true });
    writeFileSync(CONFIG, 'project_id = "shop"\n');
  },
  start: () => console.log('Started supabase local development setup.'),
  'migration up': migrate,
  status(options) {
    const values: Readonly<Record<string, string>> = {
      'api.url': gateway,
      'auth.anon_key': KEYS.anon,
      'auth.service_role_key': KEYS.service_role,
    };
    for (const option of options) {
      const [name = '', alias] = option.split('=');
      if (alias !== undefined) console.log(`${alias}="${values[name]!}"`);
    }
  },
  'functions serve': serve,
};

/** Runs the migrations that have not run, each in a transaction. */
async function migrate(): Promise<void> {
  const client = new Client({ connectionString: DATABASE });
  await client.connect();
  await client.query('CREATE SCHEMA IF NOT EXISTS supabase_migrations');
  await client.query(
    'CREATE TABLE IF NOT EXISTS supabase_migrations.schema_migrations (version text PRIMARY KEY)',
  );
  for (const file of readdirSync('supabase/migrations').sort()) {
    const { rowCount } = await client.query(
      'INSERT INTO supabase_migrations.schema_migrations VALUES ($1) ON CONFLICT DO NOTHING',
      [file],
    );
    if (rowCount === 0) continue;
    const sql = readFileSync(`supabase/migrations/${file}`, 'utf8');
    // extensions.sql stands for them.
    await client.query(`BEGIN; ${sql.replace(/^CREATE EXTENSION .*$/gm, '')} COMMIT;`);
  }
  await client.end();
}

async function serve(): Promise<void> {
  const settings = parseEnv(
    // In the CLI's containers this name is the machine.
    readFileSync(`${FUNCTIONS}/.env`, 'utf8').replaceAll('host.docker.internal', '127.0.0.1'),
  );
  const env = {
    ...settings,
    PATH: process.env['PATH'],
    HOME: process.env['HOME'],
    NO_COLOR: '1',
    SUPABASE_URL: gateway,
    SUPABASE_SERVICE_ROLE_KEY: KEYS.service_role,
  };
  const config = readFileSync(CONFIG, 'utf8');
  const upstreams = new Map([['/rest/v1/', POSTGREST]]);
  const open = new Set<string>();
  const server = createServer((req, res) => {
    const [prefix, upstream] = [...upstreams].find(([each]) => req.url?.startsWith(each)) ?? [];
    if (prefix === undefined) return void res.writeHead(404).end();
    const name = prefix.split('/').at(-1)!;
    const key = req.headers.authorization?.replace('Bearer ', '');
    const isOpen = name === '' || open.has(name) || req.method === 'OPTIONS';
    if (!isOpen && !Object.values(KEYS).includes(key ?? '')) return void res.writeHead(401).end();
    const path = name === '' ? req.url! : req.url!.slice('/functions/v1'.length);
    forward(req, res, `${upstream!}${path}`);
  });
  // Listens before the functions choose their ports.
  server.listen(Number(GATEWAY_PORT), '127.0.0.1');
  await once(server, 'listening');
  const names = readdirSync(FUNCTIONS, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !entry.name.startsWith('_'))
    .map(({ name }) => name);
  for (const name of names) {
    const port = await freePort();
    const deno = 'exec node_modules/.bin/deno run --allow-net --allow-env --allow-read';
    const served = spawn('sh', ['-c', `${deno} ${FUNCTIONS}/${name}/index.ts 2>&1`], {
      env: { ...env, DENO_SERVE_ADDRESS: `tcp:127.0.0.1:${port}` } as unknown as NodeJS.ProcessEnv,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    process.once('exit', () => served.kill());
    served.stdout.pipe(process.stdout);
    await untilReady(name, served, served.stdout, /Listening on/);
    upstreams.set(`/functions/v1/${name}`, `http://127.0.0.1:${port}`);
    if (config.includes(`[functions.${name}]\nverify_jwt = false`)) open.add(name);
  }
  console.log(`Serving functions on ${gateway}/functions/v1/<function-name>`);
}

function forward(req: IncomingMessage, res: ServerResponse, url: string): void {
  const { method = 'GET', headers } = req;
  const asked = request(url, { method, headers }, (reply) => {
    res.writeHead(reply.statusCode!, reply.headers);
    reply.pipe(res);
  });
  asked.on('error', () => res.writeHead(502).end());
  req.pipe(asked);
}

const words = process.argv.slice(2);
const name = Object.keys(COMMANDS).find((command) => words.join(' ').startsWith(command)) ?? '';
await COMMANDS[name]!(words);
