/**
 * `pnpm api` lists every public name: the exports of each entry point, their members, and the
 * strings that a type allows, such as error codes. Fails if a name in public-api.txt is gone.
 * `--update` writes the present names.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { ROOT } from './bootstrap.mjs';

const PACKAGES = join(ROOT, 'packages');
const REPORT = join(ROOT, 'public-api.txt');

/**
 * Returns the source of each entry point, by its import name.
 *
 * @returns {[name: string, source: string][]}
 */
export function doors() {
  return readdirSync(PACKAGES).flatMap((folder) => {
    const { name, exports } = JSON.parse(
      readFileSync(join(PACKAGES, folder, 'package.json'), 'utf8'),
    );
    return Object.entries(exports)
      .filter(([door]) => door !== './package.json')
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

function namesOf(checker, door, exported) {
  const symbol =
    exported.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(exported) : exported;
  const isValue = (symbol.flags & ts.SymbolFlags.Value) !== 0;
  const isType = (symbol.flags & ts.SymbolFlags.Type) !== 0;
  const types = [
    ...(isType ? [checker.getDeclaredTypeOfSymbol(symbol)] : []),
    ...(isValue ? [checker.getTypeOfSymbol(symbol)] : []),
  ];
  const members = types.flatMap((type) => checker.getPropertiesOfType(type)).filter(isOurs);
  const literals = types
    .flatMap((type) => (type.isUnion() ? type.types : [type]))
    .filter((type) => type.isStringLiteral());
  const name = `${door} ${exported.name}`;
  return [
    ...(isValue ? [`${name} (value)`] : []),
    ...(isType ? [`${name} (type)`] : []),
    ...members.map((member) => `${name}.${writtenName(member)}`),
    ...literals.map(({ value }) => `${name} = ${JSON.stringify(value)}`),
  ];
}

/** Drops the compiler's number of a symbol, which changes with other code. */
const writtenName = ({ name }) => name.replace(/^__@(.+)@\d+$/, '[$1]');

/** Excludes private members, and members inherited from Error or from a framework's types. */
const isOurs = ({ name, declarations = [] }) =>
  !name.includes('#') &&
  declarations.some((declaration) => declaration.getSourceFile().fileName.startsWith(PACKAGES));

function publicNames() {
  const all = doors();
  const program = programOf(all.map(([, file]) => file));
  const checker = program.getTypeChecker();
  const names = all.flatMap(([door, file]) => {
    const module = checker.getSymbolAtLocation(program.getSourceFile(file));
    return checker
      .getExportsOfModule(module)
      .flatMap((exported) => namesOf(checker, door, exported));
  });
  return [...new Set(names)].sort();
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const now = publicNames();
  if (process.argv.includes('--update')) writeFileSync(REPORT, `${now.join('\n')}\n`);
  else compare(now);
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
