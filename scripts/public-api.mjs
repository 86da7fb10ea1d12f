/**
 * `pnpm api` lists every public name: the exports of each entry point, their members, and the
 * strings that a type allows, such as error codes. Fails if a name in public-api.txt is gone, or if
 * more than 110 names are exported (a re-exported name counts once). `--update` writes the present
 * names.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript-api';
import { ROOT } from './bootstrap.mjs';

const PACKAGES = join(ROOT, 'packages');
const REPORT = join(ROOT, 'public-api.txt');
const MOST_EXPORTS = 110;
/** For our own packages alone. Lint forbids them to everybody else. */
const INTERNAL = [
  ...['@paylink/core/internal', '@paylink/testing/internal'],
  '@paylink/testing/schedules/internal',
];

/**
 * Returns the source of each entry point, by its import name.
 *
 * @returns {[name: string, source: string][]}
 */
export function doors() {
  const folders = readdirSync(PACKAGES).filter((folder) =>
    existsSync(join(PACKAGES, folder, 'package.json')),
  );
  return folders.flatMap((folder) => {
    const { name, exports } = JSON.parse(
      readFileSync(join(PACKAGES, folder, 'package.json'), 'utf8'),
    );
    return Object.entries(exports)
      .filter(
        ([door]) => door !== './package.json' && !INTERNAL.includes(`${name}${door.slice(1)}`),
      )
      .map(([door, target]) => {
        const source = target.import.types.replace('./dist/', 'src/').replace('.d.ts', '.ts');
        return [`${name}${door.slice(1)}`, join(PACKAGES, folder, source)];
      });
  });
}

function programOf(files) {
  const { config } = ts.readConfigFile(join(ROOT, 'tsconfig.json'), ts.sys.readFile);
  return ts.createProgram(files, ts.parseJsonConfigFileContent(config, ts.sys, ROOT).options);
}

const originOf = (checker, exported) =>
  exported.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(exported) : exported;

function namesOf(checker, door, exported) {
  const symbol = originOf(checker, exported);
  const isValue = (symbol.flags & ts.SymbolFlags.Value) !== 0;
  const isType = (symbol.flags & ts.SymbolFlags.Type) !== 0;
  const types = [
    ...(isType ? [checker.getDeclaredTypeOfSymbol(symbol)] : []),
    ...(isValue ? [checker.getTypeOfSymbol(symbol)] : []),
  ];
  const members = types.flatMap((type) => checker.getPropertiesOfType(type)).filter(isOurs);
  const name = `${door} ${exported.name}`;
  const memberNames = members.flatMap((member) => {
    const memberName = `${name}.${writtenName(member)}`;
    return [memberName, ...literalsOf(memberName, checker.getTypeOfSymbol(member))];
  });
  return [
    ...(isValue ? [`${name} (value)`] : []),
    ...(isType ? [`${name} (type)`] : []),
    ...memberNames,
    ...types.flatMap((type) => literalsOf(name, type)),
  ];
}

/** Lists the strings that a type allows. */
function literalsOf(name, type) {
  const parts = type.isUnion() ? type.types : [type];
  return parts
    .filter((part) => part.isStringLiteral())
    .map(({ value }) => `${name} = ${JSON.stringify(value)}`);
}

/** Drops the compiler's number of a symbol, which changes with other code. */
const writtenName = ({ name }) => name.replace(/^__@(.+)@\d+$/, '[$1]');

/** Excludes private members, and members inherited from Error or from a framework's types. */
const isOurs = ({ name, declarations = [] }) =>
  !name.includes('#') &&
  declarations.some((declaration) => declaration.getSourceFile().fileName.startsWith(PACKAGES));

function publicApi() {
  const all = doors();
  const program = programOf(all.map(([, file]) => file));
  const checker = program.getTypeChecker();
  const exports = all.flatMap(([door, file]) => {
    const module = checker.getSymbolAtLocation(program.getSourceFile(file));
    return checker.getExportsOfModule(module).map((exported) => ({ door, exported }));
  });
  const names = exports.flatMap(({ door, exported }) => namesOf(checker, door, exported));
  const origins = new Set(exports.map(({ exported }) => originOf(checker, exported)));
  return { names: [...new Set(names)].sort(), exported: origins.size };
}

function compare(now) {
  const kept = readFileSync(REPORT, 'utf8').trim().split('\n');
  const lost = kept.filter((name) => !now.includes(name));
  const added = now.filter((name) => !kept.includes(name));
  for (const name of lost) console.error(`lost: ${name}`);
  console.log(
    `${now.length} public names: ${lost.length} lost, ${added.length} not yet in ` +
      'public-api.txt (pnpm api --update)',
  );
  if (lost.length > 0) process.exitCode = 1;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { names, exported } = publicApi();
  if (process.argv.includes('--update')) writeFileSync(REPORT, `${names.join('\n')}\n`);
  else compare(names);
  console.log(`${exported} exported names, at most ${MOST_EXPORTS} (pnpm api --check)`);
  if (process.argv.includes('--check') && exported > MOST_EXPORTS) process.exitCode = 1;
}
