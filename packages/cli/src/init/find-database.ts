/** Finds the database of a project. */
import { existsSync, readdirSync } from 'node:fs';
import { join, posix } from 'node:path';
import { KNOWN, MEMORY, ORMS, UNSUPPORTED, type Database, type Dialect } from './databases.js';
import { readRecipe } from './templates.js';
import { readText } from './text.js';

const PROVIDERS: Readonly<Record<string, Dialect>> = {
  postgresql: 'postgres',
  postgres: 'postgres',
  mysql: 'mysql',
  sqlite: 'sqlite',
};

/** Finds the database by package.json, schema.prisma, the address in .env and `supabase/`. */
export function findDatabase(
  folder: string,
  dependencies: Readonly<Record<string, string>>,
  env: NodeJS.Dict<string>,
  isModule: boolean,
): Database {
  const has = (name: string): boolean => name in dependencies;
  const provider = has('@prisma/client') ? prismaProvider(folder) : undefined;
  const found =
    KNOWN.find(({ recipe, dialect, packages, shownBy = packages }) => {
      if (recipe.startsWith('prisma'))
        return dialect !== undefined && dialect === PROVIDERS[provider ?? ''];
      if (!isModule && awaitsAtTopLevel(recipe)) return false;
      return shownBy.every((name) => has(name) || name === 'reflect-metadata');
    }) ??
    recipeNamed(driverOf(env)) ??
    (existsSync(join(folder, 'supabase', 'config.toml')) ? recipeNamed('supabase') : undefined) ??
    MEMORY;
  const replaced =
    ORMS.find((name) => has(name) && !found.packages.includes(name)) ??
    (found === MEMORY ? UNSUPPORTED.find(has) : undefined);
  return replaced === undefined ? found : { ...found, replaced };
}

/** CommonJS does not allow it. */
const awaitsAtTopLevel = (recipe: string): boolean =>
  /^(?:\S.* = )?await /m.test(readRecipe(recipe, true));

const recipeNamed = (name: string): Database | undefined =>
  KNOWN.find(({ recipe }) => recipe === name);

/** Returns the usual driver for an address, for a project that has an address and no driver. */
function driverOf(env: NodeJS.Dict<string>): string {
  const address = env['DATABASE_URL'] ?? env['MONGODB_URI'] ?? env['MONGODB_URL'] ?? '';
  if (/^postgres(ql)?:/.test(address)) return 'pg';
  if (/^mongodb(\+srv)?:/.test(address)) return 'mongodb';
  if (/^(mysql|mariadb):/.test(address)) return 'mysql2';
  return 'SUPABASE_URL' in env ? 'supabase' : '';
}

/** Returns the path and the text of the schema, which may be spread over a folder. */
function prismaSchema(folder: string): { readonly at: string; readonly text: string } | undefined {
  const config = readText(folder, 'prisma.config.ts') ?? '';
  const named = /\bschema:[^'"`\n]*['"`](?:\.\/)?([^'"`]+)/.exec(config)?.[1];
  for (const path of [named, 'prisma/schema.prisma', 'schema.prisma', 'prisma/schema', 'prisma']) {
    if (path === undefined || !existsSync(join(folder, path))) continue;
    if (path.endsWith('.prisma')) return { at: posix.dirname(path), text: readText(folder, path)! };
    const files = readdirSync(join(folder, path)).filter((file) => file.endsWith('.prisma'));
    if (files.length > 0)
      return { at: path, text: files.map((file) => readText(folder, `${path}/${file}`)!).join('') };
  }
  return undefined;
}

/** Returns the provider of the datasource, such as `postgresql`. */
function prismaProvider(folder: string): string | undefined {
  const { text = '' } = prismaSchema(folder) ?? {};
  return /datasource\s+\w+\s*\{[^}]*?provider\s*=\s*"(\w+)"/.exec(text)?.[1];
}

/** Returns the module of the project's own Prisma client, as a path from the folder. */
export function prismaClientOf(folder: string): string | undefined {
  const { at = '', text = '' } = prismaSchema(folder) ?? {};
  const [generator = ''] = /generator\s+\w+\s*\{[^}]*\}/.exec(text) ?? [];
  const output = /output\s*=\s*"([^"]+)"/.exec(generator)?.[1];
  // The older generator writes a package, and the newer one modules of TypeScript.
  const file = generator.includes('"prisma-client-js"') ? 'index.js' : 'client.js';
  return output === undefined ? undefined : posix.join(at, output, file);
}
