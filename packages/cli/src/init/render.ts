/** Fits a template, an ES module, to the project's module system. */
export interface Style {
  readonly isTypeScript: boolean;
  readonly isEsm: boolean;
  /** The extension in the project's imports: "", ".js" or ".mjs". */
  readonly ending: string;
}

export function render(template: string, { isTypeScript, isEsm, ending }: Style): string {
  const text = template.replace(/((?:from|import) ')(\.[^']*?)(?:\.js)?'/g, `$1$2${ending}'`);
  if (isTypeScript) return text;
  const script = text.replace(/process\.env\['(\w+)'\]/g, 'process.env.$1');
  return isEsm ? script : asCommonJs(script);
}

const EXPORTED = /^export (?=(?:async )?(?:const|function) (\w+))/gm;
const EXPORT_LIST = /^export \{ (.*) \};\n/gm;

function asCommonJs(code: string): string {
  const listed = Array.from(code.matchAll(EXPORT_LIST), ([, names]) => names!.split(', ')).flat();
  const exported = [...Array.from(code.matchAll(EXPORTED), ([, name]) => name!), ...listed];
  const body = code
    .replace(
      /^import (\w+|\{[^}]*\}) from ('.*');$/gm,
      (_line, names: string, from: string) =>
        `const ${names.replaceAll(' as ', ': ')} = require(${from});`,
    )
    .replace(/^import ('.*');$/gm, 'require($1);')
    .replace(EXPORT_LIST, '')
    .replace(EXPORTED, '');
  return exported.length === 0 ? body : `${body}\nmodule.exports = { ${exported.join(', ')} };\n`;
}
