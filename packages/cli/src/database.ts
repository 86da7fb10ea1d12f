/** Connects to the merchant's PostgreSQL with the merchant's own driver. */
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
  /** Set if only this folder's .env names the address. The folder may be a stranger's. */
  readonly isOfProject: boolean;
}

/** Finds the database address and hides its password from all later output. */
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
 * @throws Failure if the server cannot be reached, or if a password from elsewhere would go to a
 *   stranger's server
 */
export async function connectDatabase(
  { url, isOfProject }: DatabaseAddress,
  applicationName: string,
): Promise<Client> {
  const { Client: PgClient } = await loadPg();
  const client = new PgClient({ connectionString: url, application_name: applicationName });
  if (isOfProject) keepPasswordHere(client, url);
  // If the connection breaks, the running query rejects, so this listener does nothing.
  client.on('error', () => undefined);
  await client.connect().catch((error: unknown) => {
    throw failure(
      `PostgreSQL cannot be reached: ${messageOf(error)}`,
      'check the address in --database-url or DATABASE_URL',
    );
  });
  return client;
}

/**
 * Refuses to send a password to a stranger's host. The driver takes a missing password from the
 * environment or a password file, and it knows more spellings of a host than a URL (`?host=…`), so
 * the driver's own view of the host counts.
 */
function keepPasswordHere({ host, password }: Client, url: string): void {
  if (isIn(url, password) || isSocket(host) || isLocalHost(host.includes(':') ? `[${host}]` : host))
    return;
  if (host === process.env['PGHOST']) return;
  const source = process.env['PGPASSWORD'] ? 'PGPASSWORD' : 'your password file';
  throw usageFailure(
    `the password of ${source} would go to ${host}, which only this folder's .env names`,
    'if this is intended, give --database-url, or --dotenv .env',
  );
}

function isSocket(host: string): boolean {
  return host.startsWith('/');
}

function isIn(url: string, password: string | undefined): boolean {
  const passwords = passwordsIn(url);
  return password !== undefined && [...passwords, ...passwords.map(decoded)].includes(password);
}

/** Returns the passwords of the URL's user part and query, still percent-encoded. */
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

/** Loads the merchant's driver, because this package does not depend on one. */
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
    'reading PostgreSQL needs the package pg, which is not installed here',
    'npm install --save-dev pg',
  );
}

/**
 * Returns the message of any thrown value. Never throws, although merchants' code can throw
 * anything.
 */
export function messageOf(error: unknown): string {
  try {
    const [first = error] = error instanceof AggregateError ? (error.errors as unknown[]) : [error];
    const { message } = Object(first) as Partial<Error>;
    return typeof message === 'string' ? message : String(first);
  } catch {
    return 'an unreadable error';
  }
}
