/** The parts of `pnpm proof`, and how one is judged. */

const fromSources = (...args) => ['--conditions=@paylink/source', '--import', 'tsx', ...args];

/** `count` reads from the output how many there were; `expects` is the exit code. */
export const PARTS = [
  {
    name: 'simulation',
    what: 'histories of the money path keep every invariant',
    args: fromSources('test/simulation/main.ts', '--histories', '500'),
    count: (text) => text.match(/^(\d+) histories/m)?.[1],
  },
  {
    name: 'broken designs',
    what: 'the simulation catches each design that is known to be broken',
    each: async (outputOf) =>
      (await outputOf(fromSources('test/simulation/main.ts', '--designs'))).text.trim().split('\n'),
    args: fromSources('test/simulation/main.ts', '--histories', '1000', '--design'),
    expects: 1,
  },
  {
    name: 'properties',
    what: 'cases: exact signatures, errors, links, histories of stores',
    args: fromSources('test/properties/main.ts', '--runs', '20000'),
    count: (text) => text.match(/^([\d,]+) cases, 0 failed$/m)?.[1],
  },
  {
    name: 'mutants',
    what: 'mutants of the signature: each is noticed by core’s own tests, or justified',
    args: fromSources(
      'test/mutants/main.ts',
      '--fresh',
      '--package',
      'core',
      '--file',
      'packages/core/src/signature.ts',
    ),
    count: (text) => text.match(/^(\d+) mutants, 0 faults$/m)?.[1],
  },
  {
    name: 'road mutants',
    what: 'faults put into the road are noticed by at least six packages',
    args: ['scripts/road-mutants.mjs'],
    count: (text) => text.match(/^ok {4} /gm)?.length,
  },
  {
    name: 'prove',
    what: 'planted faults in 20,000 orders are found, and no other',
    args: fromSources(
      'packages/cli/test/prove/ten-million.ts',
      '--orders',
      '20000',
      '--faults',
      '190',
    ),
    count: (text) => text.match(/^(\d+) of \1 faults found, 0 false alarms$/m)?.[1],
  },
  {
    name: 'engines',
    what: 'engines that need no download, with kills and duplicates',
    args: fromSources('test/engines/main.ts', '--kills', '5', '--orders', '5').concat(
      ['PostgreSQL 18', 'PGlite', 'PgBouncer', 'full disk', 'clock jumps', 'Redis'].flatMap(
        (name) => ['--only', name],
      ),
    ),
    count: (text) => text.match(/^(\d+) engines, 0 faults$/m)?.[1],
    absent: (text) => text.match(/^not to be had {2}.*$/gm) ?? [],
  },
  {
    name: 'kills',
    what: 'kills with SIGKILL: nothing lost, doubled or early',
    args: fromSources(
      'test/durability/main.ts',
      'kills',
      '--design',
      'postgresStore',
      '--kills',
      '20',
    ),
    count: () => '20',
  },
  {
    name: 'duplicates',
    what: 'orders with 50 notifications at once are credited once',
    args: fromSources('test/durability/main.ts', 'duplicates', '--orders', '20', '--copies', '50'),
    count: () => '20',
  },
];

/** How many there were, and what fell short: where none ran, nothing was shown. `outputOf` runs a file and gives what it said. */
export async function runPart({ args, each, expects = 0, count, absent = () => [] }, outputOf) {
  if (each === undefined) {
    const { code, text } = await outputOf(args);
    const found = count(text);
    const isRight = code === expects && /[1-9]/.test(found ?? '');
    return { count: String(found ?? 0), short: isRight ? [] : [text.trim()], absent: absent(text) };
  }
  const names = await each(outputOf);
  const short = [];
  for (const name of names) {
    const { code, text } = await outputOf([...args, name]);
    if (code !== expects) short.push(`${name}: ended with ${code}\n${text.trim()}`);
  }
  return { count: String(names.length - short.length), short, absent: [] };
}
