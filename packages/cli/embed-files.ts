/** Copies the recipes and the templates beside a bundle: in TypeScript, and in JavaScript. */
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import typescript from 'typescript-api';
import { format } from '../../scripts/format.mjs';

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const RECIPES = at('../../examples/databases');
const TEMPLATES = at('templates');

export async function embedFiles(folder: string): Promise<void> {
  const recipes = readdirSync(RECIPES).filter((file) => /(?<!\.config)\.ts$/.test(file));
  for (const file of recipes) await copy(`${RECIPES}/${file}`, `${folder}/recipes/${file}`);
  cpSync(`${RECIPES}/tables`, `${folder}/recipes/tables`, { recursive: true });
  for (const file of readdirSync(TEMPLATES, { recursive: true, encoding: 'utf8' }))
    if (file.endsWith('.ts')) await copy(`${TEMPLATES}/${file}`, `${folder}/templates/${file}`);
    else if (file.endsWith('.tsx')) cpSync(`${TEMPLATES}/${file}`, `${folder}/templates/${file}`);
}

async function copy(source: string, target: string): Promise<void> {
  const code = readFileSync(source, 'utf8');
  mkdirSync(dirname(target), { recursive: true });
  writeFileSync(target, code);
  writeFileSync(target.replace(/ts$/, 'js'), await toJavaScript(code));
}

async function toJavaScript(code: string): Promise<string> {
  // The compiler drops empty lines, and keeps comments.
  const marked = code.replace(/^$/gm, '//\u00b6');
  const { outputText } = typescript.transpileModule(marked, {
    compilerOptions: {
      target: typescript.ScriptTarget.ES2022,
      module: typescript.ModuleKind.ES2022,
      experimentalDecorators: true,
    },
  });
  const spaced = outputText.replace(/^ *\/\/\u00b6$/gm, '').replace(/^\n+/, '');
  return format('recipe.js', spaced);
}
