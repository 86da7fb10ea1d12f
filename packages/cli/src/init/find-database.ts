/** Finds the database of a project. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { KNOWN, MEMORY, UNSUPPORTED, type Database, type Dialect } from './databases.js';
import { hasRecipe } from './recipes.js';

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
  isModule: boolean,
): Database {
  const has = (name: string): boolean => name in dependencies;
  const provider = has('@prisma/client') ? prismaProvider(folder) : undefined;
  const found = KNOWN.find(({ recipe, dialect, packages, shownBy = packages }) => {
    if (!hasRecipe(recipe)) return false;
    if (recipe.startsWith('prisma'))
      return dialect !== undefined && dialect === PROVIDERS[provider ?? ''];
    // The recipe awaits at the top level, which CommonJS does not allow.
    if (recipe === 'typeorm' && !isModule) return false;
    return shownBy.every((name) => has(name) || name === 'reflect-metadata');
  });
  if (found !== undefined) return found;
  const byAddress = recipeNamed(driverOf(folder));
  if (byAddress !== undefined) return byAddress;
  if (existsSync(join(folder, 'supabase', 'config.toml'))) return recipeNamed('supabase') ?? MEMORY;
  const other = Object.keys(UNSUPPORTED).find(has);
  const unsupported =
    other === undefined ? provider && `Prisma on ${provider}` : UNSUPPORTED[other];
  return unsupported === undefined ? MEMORY : { ...MEMORY, unsupported };
}

const recipeNamed = (name: string): Database | undefined =>
  KNOWN.find(({ recipe }) => recipe === name && hasRecipe(recipe));

/** Returns the usual driver for an address, for a project that has an address and no driver. */
function driverOf(folder: string): string {
  const path = join(folder, '.env');
  const known = existsSync(path) ? parseEnv(readFileSync(path, 'utf8')) : {};
  const address = known['DATABASE_URL'] ?? known['MONGODB_URI'] ?? known['MONGODB_URL'] ?? '';
  if (/^postgres(ql)?:/.test(address)) return 'pg';
  if (/^mongodb(\+srv)?:/.test(address)) return 'mongodb';
  if (/^(mysql|mariadb):/.test(address)) return 'mysql2';
  return 'SUPABASE_URL' in known ? 'supabase' : '';
}

/** Returns the provider of the datasource, such as `postgresql`. */
function prismaProvider(folder: string): string | undefined {
  const path = ['prisma/schema.prisma', 'schema.prisma'].find((each) =>
    existsSync(join(folder, each)),
  );
  if (path === undefined) return undefined;
  const schema = readFileSync(join(folder, path), 'utf8');
  return /datasource\s+\w+\s*\{[^}]*?provider\s*=\s*"(\w+)"/.exec(schema)?.[1];
}

/** Where the project's own Prisma client is, as an import from the folder of the code. */
export function prismaClientOf(folder: string): string | undefined {
  const path = join(folder, 'prisma/schema.prisma');
  const schema = existsSync(path) ? readFileSync(path, 'utf8') : '';
  const output = /generator\s+\w+\s*\{[^}]*?output\s*=\s*"([^"]+)"/.exec(schema)?.[1];
  return output === undefined ? undefined : join('prisma', output);
}
