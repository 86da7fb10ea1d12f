/** Reads a database's address, and says which databases can be scheduled. */
import { openHttpWire } from './http.js';
import { openMySqlWire } from './mysql.js';
import { openPostgresWire } from './postgres.js';
import { openSqliteWire } from './sqlite.js';
import type { OpenWire } from './wire.js';

/** An option, the module or the database cannot be used. */
export class UsageError extends Error {
  /** The same code as the configuration errors of the other packages. */
  readonly code = 'misconfigured';

  constructor(
    readonly option: string,
    message: string,
  ) {
    super(message);
  }
}
/** The options are right, but nothing can hold this database's round trips. */
export class NotTestable extends Error {}

export interface Database {
  readonly host: string;
  readonly port: number;
  /** The protocol's name, the host and the port, for messages. */
  readonly place: string;
  readonly openWire: OpenWire;
  /** True for SQLite, whose statements leave no process. */
  readonly isInProcess: boolean;
  /** The same address at a port of this machine. */
  readonly urlAt: (port: number) => string;
}

const POSTGRES = { name: 'PostgreSQL', standard: 5432, openWire: openPostgresWire };
const MYSQL = { name: 'MySQL', standard: 3306, openWire: openMySqlWire };
const HTTP = { name: 'HTTP', standard: 80, openWire: openHttpWire };
/** By the address's scheme, without a driver's name such as `+psycopg2`. */
const PROTOCOLS: Readonly<Record<string, typeof POSTGRES>> = {
  ...{ postgres: POSTGRES, postgresql: POSTGRES },
  ...{ mysql: MYSQL, mysql2: MYSQL, mariadb: MYSQL },
  // For Supabase and DynamoDB, whose local servers have no TLS.
  http: HTTP,
};
const OTHERS: Readonly<Record<string, string>> = {
  ...{ mongodb: 'MongoDB', redis: 'Redis', rediss: 'Redis' },
  ...{ https: 'A database over HTTPS', libsql: 'libSQL' },
};

/** @throws UsageError that never quotes the address, which holds a password, or NotTestable */
export function readDatabase(url: string): Database {
  if (/^(?:file|sqlite):|\.(?:db|sqlite3?)$/.test(url)) {
    const nowhere = { host: '', port: 0, place: 'SQLite' };
    return { ...nowhere, openWire: openSqliteWire, isInProcess: true, urlAt: () => url };
  }
  const [, scheme = ''] = /^([a-z0-9]+)[^:]*:/i.exec(url.toLowerCase()) ?? [];
  const other = OTHERS[scheme];
  if (other !== undefined)
    throw new NotTestable(
      `${other} speaks none of the protocols that can be held: PostgreSQL, MySQL, plain HTTP`,
    );
  const protocol = PROTOCOLS[scheme];
  if (protocol === undefined || !URL.canParse(url))
    throw new UsageError(
      'databaseUrl',
      'The address of the database must be a URL such as postgres://user@localhost/shop',
    );
  const { hostname, port: given, searchParams } = new URL(url);
  if (hostname === '' || /[,%]/.test(hostname) || searchParams.has('host'))
    throw new UsageError(
      'databaseUrl',
      'The address of the database must name one host, and no socket in a folder',
    );
  const { name, standard, openWire } = protocol;
  const port = Number(given || standard);
  return {
    host: hostname.replace(/^\[|\]$/g, ''),
    port,
    place: `${name} at ${hostname}:${port}`,
    openWire,
    isInProcess: false,
    urlAt(proxyPort) {
      const at = new URL(url);
      at.hostname = '127.0.0.1';
      at.port = String(proxyPort);
      return at.href;
    },
  };
}
