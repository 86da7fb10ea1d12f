/** Reads a database's address, and says which databases can be scheduled. */
import { openMySqlWire } from './mysql.js';
import { openPostgresWire } from './postgres.js';
import type { OpenWire } from './wire.js';

/** The caller gave something that cannot be tried. */
export class UsageError extends Error {
  /** As the configuration errors of the other packages have it. */
  readonly code = 'misconfigured';

  constructor(
    readonly option: string,
    message: string,
  ) {
    super(message);
  }
}
/** Nothing is wrong, and this database has no wire that can be held. */
export class NotTestable extends Error {}

export interface Database {
  readonly host: string;
  readonly port: number;
  /** The protocol's name, host and port, for people. */
  readonly place: string;
  readonly openWire: OpenWire;
  readonly url: string;
  /** The same address at a port of this machine. */
  readonly urlAt: (port: number) => string;
}

const PROTOCOLS = [
  {
    name: 'PostgreSQL',
    scheme: /^(postgres|postgresql)(\+\w+)?$/,
    port: 5432,
    wire: openPostgresWire,
  },
  { name: 'MySQL', scheme: /^(mysql2?|mariadb)(\+\w+)?$/, port: 3306, wire: openMySqlWire },
];
const OTHERS: Readonly<Record<string, string>> = {
  mongodb: 'MongoDB',
  'mongodb+srv': 'MongoDB',
  redis: 'Redis',
  rediss: 'Redis',
  http: 'A database over HTTP',
  https: 'A database over HTTP',
  libsql: 'libSQL',
  file: 'SQLite',
  sqlite: 'SQLite',
};

/** @throws UsageError that never quotes the address, which holds a password, or NotTestable */
export function readDatabase(url: string): Database {
  const scheme = /^([a-z0-9+]+):/i.exec(url)?.[1]!.toLowerCase() ?? '';
  const other = OTHERS[scheme];
  if (other !== undefined)
    throw new NotTestable(
      `${other} speaks none of the protocols that can be held: PostgreSQL, MySQL`,
    );
  const protocol = PROTOCOLS.find((each) => each.scheme.test(scheme));
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
  const tls = ['sslmode', 'ssl', 'ssl-mode', 'sslaccept'].map((name) => searchParams.get(name));
  if (
    tls.some((value) => value !== null && !/^(disable|disabled|prefer|allow|false|0)$/i.test(value))
  )
    throw new UsageError(
      'databaseUrl',
      'The address asks for TLS, which hides the rounds: use a test database without it',
    );
  const port = Number(given || protocol.port);
  const host = hostname.replace(/^\[|\]$/g, '');
  return {
    host,
    port,
    place: `${protocol.name} at ${hostname}:${port}`,
    openWire: protocol.wire,
    url,
    urlAt(proxyPort) {
      const at = new URL(url);
      at.hostname = '127.0.0.1';
      at.port = String(proxyPort);
      return at.href;
    },
  };
}
