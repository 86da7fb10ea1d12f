/** Copies the recipes of examples/databases beside a bundle, so that they stand in one place. */
import { copyFileSync, cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { format, resolveConfig } from 'prettier';
import typescript from 'typescript';

const SOURCE = fileURLToPath(new URL('../../examples/databases/', import.meta.url));

export async function embedRecipes(folder: string): Promise<void> {
  mkdirSync(`${folder}/recipes`, { recursive: true });
  cpSync(`${SOURCE}/tables`, `${folder}/recipes/tables`, { recursive: true });
  for (const file of readdirSync(SOURCE)) {
    if (!file.endsWith('.ts') || file.endsWith('.config.ts')) continue;
    copyFileSync(`${SOURCE}/${file}`, `${folder}/recipes/${file}`);
    const script = await toJavaScript(readFileSync(`${SOURCE}/${file}`, 'utf8'));
    writeFileSync(`${folder}/recipes/${file.replace(/ts$/, 'js')}`, script);
  }
}

async function toJavaScript(code: string): Promise<string> {
  // The compiler drops empty lines, and keeps comments.
  const marked = code.replace(/^$/gm, '//\u00b6');
  const { outputText } = typescript.transpileModule(marked, {
    compilerOptions: {
      target: typescript.ScriptTarget.ES2022,
      module: typescript.ModuleKind.ES2022,
    },
  });
  const spaced = outputText.replace(/^ *\/\/\u00b6$/gm, '').replace(/^\n+/, '');
  const config = await resolveConfig(SOURCE);
  return format(spaced, { ...config, parser: 'babel' });
}
