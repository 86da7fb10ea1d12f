/**
 * Reads the templates, and the recipes of examples/databases. The build copies both beside this
 * program: in TypeScript, and in JavaScript.
 */
import { readFileSync } from 'node:fs';

const read = (path: string): string => readFileSync(new URL(path, import.meta.url), 'utf8');

export function readTemplate(
  name: string,
  isTypeScript: boolean,
  ending = isTypeScript ? 'ts' : 'js',
): string {
  return read(`./templates/${name}.${ending}`);
}

export function readRecipe(name: string, isTypeScript: boolean): string {
  return read(`./recipes/${name}.${isTypeScript ? 'ts' : 'js'}`);
}

/** Returns the statement that creates the table `orders`. */
export function readTable(dialect: string): string {
  return read(`./recipes/tables/${dialect}.sql`).trim();
}

/** Makes one module of several, with all imports above. */
export function joinModules(...modules: readonly string[]): string {
  const imports = modules.flatMap((each) => each.match(IMPORT) ?? []);
  const bodies = modules.map((each) => each.replace(IMPORT, '').trim());
  const parts = [[...new Set(imports)].join('').trim(), ...bodies];
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`;
}

const IMPORT = /^import [^;]*;\n/gm;
