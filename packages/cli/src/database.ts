/** The merchant's PostgreSQL: its address, and the merchant's own driver. */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Client } from 'pg';
import { isLocalHost } from './audit/local-host.js';
import { failure, usageFailure } from './failure.js';
import type { Output } from './output.js';
import { DATABASE_VARIABLE, isOfProject } from './settings.js';

export interface DatabaseAddress {
  readonly url: string;
  /** Only the .env of this folder names it, which may be a stranger's. */
  readonly isOfProject: boolean;
}

/** Its password is hidden from the output from now on. */
export function findDatabase(
  flag: string | undefined,
  output: Output,
): DatabaseAddress | undefined {
  const url = flag ?? process.env[DATABASE_VARIABLE];
  if (!url) return undefined;
  output.hide(url);
  const passwords = passwordsIn(url);
  output.hide(...passwords, ...passwords.map(decoded));
  if (flag !== undefined && passwords.length > 0) {
    output.advise(
      '--database-url stays in the shell history and shows in the process list; ' +
        `${DATABASE_VARIABLE} in the environment does not`,
    );
  }
  return { url, isOfProject: flag === undefined && isOfProject(DATABASE_VARIABLE) };
}

/**
 * @throws Failure if the server cannot be reached, or a password from elsewhere would go to a
 * stranger's server
 */
export async function connectDatabase(
  { url, isOfProject }: DatabaseAddress,
  applicationName: string,
): Promise<Client> {
  const { Client: PgClient } = await loadPg();
  const client = new PgClient({ connectionString: url, application_name: applicationName });
  if (isOfProject) keepPasswordHere(client, url);
  // A connection that breaks is an error of the query that runs.
  client.on('error', () => undefined);
  await client.connect().catch((error: unknown) => {
    throw failure(
      `PostgreSQL cannot be reached: ${messageOf(error)}`,
      '--database-url or DATABASE_URL says where it is',
    );
  });
  return client;
}

/**
 * The driver adds the password of the environment, or of a password file, to an address that has
 * none. It also knows more spellings of a host than a URL has (`?host=…`), so the driver says which
 * host it would reach.
 */
function keepPasswordHere({ host, password }: Client, url: string): void {
  if (isIn(url, password) || isSocket(host) || isLocalHost(host.includes(':') ? `[${host}]` : host))
    return;
  if (host === process.env['PGHOST']) return;
  const source = process.env['PGPASSWORD'] ? 'PGPASSWORD' : 'your password file';
  throw usageFailure(
    `the password of ${source} would go to ${host}, which only the .env of this folder names`,
    'if that is right, give --database-url, or --dotenv .env',
  );
}

function isSocket(host: string): boolean {
  return host.startsWith('/');
}

function isIn(url: string, password: string | undefined): boolean {
  const passwords = passwordsIn(url);
  return password !== undefined && [...passwords, ...passwords.map(decoded)].includes(password);
}

/** As they are written: in front of the host, and in the query. */
function passwordsIn(url: string): string[] {
  if (!URL.canParse(url)) return [];
  const { password, searchParams } = new URL(url);
  return [password, ...searchParams.getAll('password')].filter((each) => each !== '');
}

function decoded(password: string): string | undefined {
  try {
    return decodeURIComponent(password);
  } catch {
    return undefined;
  }
}

/** This package brings no driver. */
async function loadPg(): Promise<typeof import('pg')> {
  for (const from of [join(process.cwd(), 'package.json'), import.meta.url]) {
    try {
      const path = createRequire(from).resolve('pg');
      const module = (await import(pathToFileURL(path).href)) as {
        readonly default: typeof import('pg');
      };
      return module.default;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'MODULE_NOT_FOUND') throw error;
    }
  }
  throw usageFailure(
    'reading PostgreSQL takes the package pg, which is not installed here',
    'npm install --save-dev pg',
  );
}

/** The message of any thrown value. Never throws: a merchant's code can throw anything. */
export function messageOf(error: unknown): string {
  try {
    const [first = error] = error instanceof AggregateError ? (error.errors as unknown[]) : [error];
    const { message } = Object(first) as Partial<Error>;
    return typeof message === 'string' ? message : String(first);
  } catch {
    return 'an error that cannot be read';
  }
}
