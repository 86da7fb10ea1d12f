/** The proofs: their commands in short and long form, and the judgement of their output. */

export interface Lab {
  readonly what: string;
  readonly file: string;
  /** Arguments of every form. */
  readonly always?: readonly string[];
  readonly short: readonly string[];
  readonly long: readonly string[];
  /** Set if the proof runs on the built packages instead of the sources. */
  readonly isBuilt?: boolean;
  /** Set if `pnpm lab all` runs the short form. */
  readonly isProof?: boolean;
  /** Reads the number of cases from the output. */
  readonly count?: (text: string) => string | undefined;
  /** Set to run once per name from `--designs`. Each run must exit with 1. */
  readonly isPerDesign?: boolean;
  /** Reads from the output the parts that this machine lacks. */
  readonly absent?: (text: string) => readonly string[];
}

const NO_DOWNLOAD = ['PostgreSQL 18', 'PGlite', 'PgBouncer', 'full disk', 'clock jumps', 'Redis'];
const SIGNATURE = 'packages/core/src/signature.ts';

export const LABS: Readonly<Record<string, Lab>> = {
  bench: {
    what: 'requests beside the same by hand',
    file: 'bench/main.ts',
    short: ['--quick'],
    long: [],
    isBuilt: true,
  },
  'bench-postgres': {
    what: 'credits beside the same by hand',
    file: 'bench/postgres.ts',
    short: ['3'],
    long: ['7'],
    isBuilt: true,
  },
  'bench-siege': {
    what: 'genuine deliveries beside a flood of forged ones, and memory',
    file: 'bench/siege.ts',
    short: [],
    long: [],
    isBuilt: true,
  },
  'bench-runtimes': {
    what: 'Bun, Deno and workerd',
    file: 'bench/runtimes/main.ts',
    short: [],
    long: [],
    isBuilt: true,
  },
  'bench-import': {
    what: 'time and memory of an import',
    file: 'bench/import.ts',
    short: [],
    long: [],
    isBuilt: true,
  },
  'bench-size': {
    what: 'bytes of a bundle',
    file: 'bench/size.ts',
    short: [],
    long: [],
    isBuilt: true,
  },
  'bench-reconcile': {
    what: 'time of a reconcile',
    file: 'bench/reconcile.ts',
    short: [],
    long: [],
    isBuilt: true,
  },
  databases: {
    what: 'races and kills of each recipe on its real engine',
    file: 'databases/main.ts',
    short: ['--races', '5', '--kills', '3'],
    long: ['--write'],
    isProof: true,
    count: (text) => /^(\d+) recipes/m.exec(text)?.[1],
  },
  databases: {
    what: 'races and kills of each recipe on its real engine',
    file: 'databases/main.ts',
    short: ['--races', '5', '--kills', '3'],
    long: ['--write'],
    isProof: true,
    count: (text) => /^(\d+) recipes/m.exec(text)?.[1],
  },
  simulation: {
    what: 'histories of the money path keep every invariant',
    file: 'simulation/main.ts',
    short: ['--histories', '500'],
    long: ['--histories', '1000000'],
    isProof: true,
    count: (text) => /^(\d+) histories/m.exec(text)?.[1],
  },
  'broken-designs': {
    what: 'the simulation catches each design that is known to be broken',
    file: 'simulation/main.ts',
    short: ['--histories', '1000'],
    long: ['--histories', '1000'],
    isProof: true,
    isPerDesign: true,
  },
  properties: {
    what: 'cases: exact signatures, errors, links, histories of stores',
    file: 'properties/main.ts',
    short: ['--runs', '20000'],
    long: ['--runs', '10000000'],
    isProof: true,
    count: (text) => /^([\d,]+) cases, 0 failed$/m.exec(text)?.[1],
  },
  mutants: {
    what: 'mutants of the signature: core’s own tests notice nine of ten',
    file: 'mutants/main.ts',
    short: ['--fresh', '--package', 'core', '--file', SIGNATURE],
    long: [],
    isProof: true,
    count: (text) => /^(\d+) mutants, 0 faults$/m.exec(text)?.[1],
  },
  'road-mutants': {
    what: 'at least six packages notice each fault in the receiver',
    file: 'mutants/road.mjs',
    short: [],
    long: [],
    isProof: true,
    count: (text) => text.match(/^ok {4} /gm)?.length.toString(),
  },
  prove: {
    what: '`paylink prove` finds each planted fault and no other',
    file: '../packages/cli/test/prove/ten-million.ts',
    short: ['--orders', '20000', '--faults', '190'],
    long: [],
    isProof: true,
    count: (text) => /^(\d+) of \1 faults found, 0 false alarms$/m.exec(text)?.[1],
  },
  engines: {
    what: 'database engines, with kills and duplicates',
    file: 'engines/main.ts',
    short: ['--kills', '5', '--orders', '5', ...NO_DOWNLOAD.flatMap((name) => ['--only', name])],
    long: ['--kills', '30', '--orders', '30'],
    isProof: true,
    count: (text) => /^(\d+) engines, 0 faults$/m.exec(text)?.[1],
    absent: (text) => text.match(/^not to be had {2}.*$/gm) ?? [],
  },
  kills: {
    what: 'kills with SIGKILL: nothing lost, doubled or early',
    file: 'durability/main.ts',
    always: ['kills'],
    short: ['--design', 'postgresStore', '--kills', '20'],
    long: ['--kills', '1000'],
    isProof: true,
    count: () => '20',
  },
  duplicates: {
    what: 'notifications that come at once credit an order once',
    file: 'durability/main.ts',
    always: ['duplicates'],
    short: ['--orders', '20', '--copies', '50'],
    long: [],
    isProof: true,
    count: () => '20',
  },
  million: {
    what: 'a million deliveries, one in six a duplicate, forged or cut off',
    file: 'durability/main.ts',
    always: ['million'],
    short: ['--count', '20000'],
    long: [],
  },
  hosts: {
    what: 'each host’s own build and server, attacked',
    file: 'hosts/main.ts',
    short: ['--only', 'express'],
    long: [],
    isBuilt: true,
  },
  release: {
    what: 'a release to a registry on loopback, and the Express quick start from it',
    file: 'release/main.ts',
    short: [],
    long: [],
    isBuilt: true,
  },
  'quick-starts': {
    what: 'each quick start in an empty folder, and Next.js 15',
    file: '../node_modules/vitest/vitest.mjs',
    always: ['run', '--project=nightly'],
    short: [],
    long: [],
    isBuilt: true,
  },
  'under-load': {
    what: 'the tests beside two busy loops for each core',
    file: 'under-load.mjs',
    short: ['--timing'],
    long: ['--times', '6'],
  },
};

export interface Output {
  readonly code: number;
  readonly text: string;
}

export interface Outcome {
  readonly count: string;
  readonly short: readonly string[];
  readonly absent: readonly string[];
}

/** Runs and judges a lab. A lab that ran no case proves nothing. */
export async function judge(
  { short, isPerDesign, count, absent }: Lab,
  outputOf: (args: readonly string[]) => Promise<Output>,
): Promise<Outcome> {
  if (isPerDesign !== true) {
    const { code, text } = await outputOf(short);
    const found = count?.(text);
    const isRight = code === 0 && /[1-9]/.test(found ?? '');
    const missing = absent?.(text) ?? [];
    return { count: found ?? '0', short: isRight ? [] : [text.trim()], absent: missing };
  }
  const names = (await outputOf(['--designs'])).text.trim().split('\n');
  const failed: string[] = [];
  for (const name of names) {
    const { code, text } = await outputOf([...short, '--design', name]);
    if (code !== 1) failed.push(`${name}: ended with ${code}\n${text.trim()}`);
  }
  return { count: String(names.length - failed.length), short: failed, absent: [] };
}
