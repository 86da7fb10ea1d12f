/** The proofs, each with its file and its arguments. */

export interface Proof {
  readonly what: string;
  readonly file: string;
  /** Arguments of every form. */
  readonly always?: readonly string[];
  readonly short?: readonly string[];
  readonly long?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Set if the proof runs on the built packages instead of the sources. */
  readonly isBuilt?: boolean;
  /** Set if `pnpm lab all` runs the short form. */
  readonly inAll?: boolean;
}

export const PROOFS: Readonly<Record<string, Proof>> = {
  simulation: {
    what: 'histories of the money keep every invariant',
    file: 'simulation/main.ts',
    short: ['--histories', '2000'],
    long: ['--histories', '1000000'],
    inAll: true,
  },
  'broken-designs': {
    what: 'the simulation catches each broken design',
    file: 'simulation/broken-designs.ts',
    inAll: true,
  },
  kills: {
    what: 'receivers killed at each step, on PostgreSQL, MariaDB and SQLite',
    file: 'kills/main.ts',
    short: ['--kills', '45'],
    long: ['--kills', '1000'],
    inAll: true,
  },
  model: {
    what: 'a Promela model of two processes with crashes, checked by Spin',
    file: 'model/main.ts',
    long: ['--faults', '2', '--liveness'],
    inAll: true,
  },
  goodput: {
    what: 'the line of questions serves under load, over real sockets',
    file: 'goodput/main.ts',
    short: ['--seconds', '45'],
    long: ['--seconds', '75'],
  },
  engines: {
    what: 'kills on PostgreSQL 13 to 18 and behind PgBouncer',
    file: 'engines/main.ts',
    short: ['--kills', '27', '--only', 'PostgreSQL 18'],
    long: ['--kills', '90'],
  },
  schedules: {
    what: 'each broken credit is found in every run, with one story, and right ones are accepted',
    file: 'schedules/main.ts',
    short: ['--runs', '1'],
    long: ['--runs', '100', '--busy', '3'],
    inAll: true,
  },
  databases: {
    what: 'each recipe on its database',
    file: 'databases/main.ts',
    short: ['--races', '5', '--kills', '3'],
    long: ['--write'],
  },
  hosts: {
    what: 'each host, built by its own tool, served and attacked',
    file: 'hosts/main.ts',
    short: ['--only', 'express'],
    isBuilt: true,
  },
  skill: {
    what: 'receivers written from the skill alone pass, and those without one of its rules fail',
    file: 'skill/main.ts',
    long: ['--write'],
  },
  mutants: {
    what: 'the tests notice realistic faults, and those of Stryker in core and payments',
    file: 'mutants/main.ts',
  },
  'full-size': {
    what: 'what CI runs in a short form: quick starts, projects of init, generated cases',
    file: '../node_modules/vitest/vitest.mjs',
    always: [
      'run',
      ...['next-15', 'quick-start', 'test/init', 'types/matrix'],
      ...['test/adapters/', 'core/test/proof/fuzz'],
      ...['runtimes/transports', 'schedules/recipes', 'schedules/frameworks'],
    ],
    env: {
      PAYLINK_QUICK_STARTS: 'all',
      PAYLINK_INIT: 'installed',
      PAYLINK_OLDER_HOSTS: 'true',
      PAYLINK_SCHEDULES: 'all',
      PAYLINK_TRANSPORTS: 'all',
      PAYLINK_TYPESCRIPT: 'all',
      PAYLINK_FUZZ_RUNS: '50000',
      PAYLINK_DIFFERENTIAL: '4000',
    },
    isBuilt: true,
  },
  'cold-start': {
    what: 'the time that Paylink adds to the start of a function',
    file: 'cold-start/main.ts',
    long: ['--starts', '40'],
  },
  'newest-raw-body': {
    what: 'the tests of @paylink/node with the newest raw-body',
    file: 'newest-raw-body.ts',
  },
  'under-load': {
    what: 'the tests beside two busy loops for each core',
    file: 'under-load.ts',
    short: ['packages/payments', 'test/adapters/slow-senders'],
  },
  bench: {
    isBuilt: true,
    what: 'requests beside the same by hand',
    file: 'bench/main.ts',
    short: ['--quick'],
  },
  'bench-postgres': {
    isBuilt: true,
    what: 'credits beside the same by hand',
    file: 'bench/postgres.ts',
    short: ['1'],
    long: ['3'],
  },
};
