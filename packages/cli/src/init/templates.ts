/** Reads the templates, which the build copies beside this program: TypeScript and JavaScript. */
import { readFileSync } from 'node:fs';

const FOLDER = new URL('./templates/', import.meta.url);

export function readTemplate(
  name: string,
  isTypeScript: boolean,
  ending = isTypeScript ? 'ts' : 'js',
): string {
  return readFileSync(new URL(`${name}.${ending}`, FOLDER), 'utf8');
}

/** Makes one module of several, with all imports above. */
export function joinModules(...modules: readonly string[]): string {
  const imports = modules.flatMap((each) => each.match(IMPORT) ?? []);
  const bodies = modules.map((each) => each.replace(IMPORT, '').trim());
  const parts = [[...new Set(imports)].join('').trim(), ...bodies];
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`;
}

const IMPORT = /^import [^;]*;\n/gm;
