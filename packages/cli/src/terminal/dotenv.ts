/** Loads .env files, and knows which variables came from the project's own file. */
import { existsSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { readText } from './input.js';

/** PAYLINK_WEBHOOK_SECRET wins over WEBHOOK_SECRET, the name in a shop's own code. */
export const SECRET_VARIABLES = ['PAYLINK_WEBHOOK_SECRET', 'WEBHOOK_SECRET'] as const;
export const API_KEY_VARIABLE = 'PAYLINK_API_KEY';
export const BASE_URL_VARIABLE = 'PAYLINK_BASE_URL';

/** The variables from the project's own .env, which no flag has named. */
const fromProject = new Set<string>();

/** Returns true if the source (a variable's name) comes from the project's own .env. */
export function isOfProject(source: string): boolean {
  return fromProject.has(source);
}

/**
 * Loads Paylink's variables from a .env file if the environment lacks them: from the named file,
 * otherwise from the project's own file if present. Ignores all other variables.
 */
export async function loadDotenv(path: string | undefined): Promise<void> {
  if (path === undefined && !existsSync('.env')) return;
  const values = parseEnv(await readText(path ?? '.env', path === undefined ? '.env' : '--dotenv'));
  const isSecretGiven = SECRET_VARIABLES.some((name) => process.env[name]);
  for (const name of [...SECRET_VARIABLES, API_KEY_VARIABLE, BASE_URL_VARIABLE]) {
    if (process.env[name] || !values[name]) continue;
    // The environment's secret wins over the file's secret under either name.
    if (isSecretGiven && (SECRET_VARIABLES as readonly string[]).includes(name)) continue;
    process.env[name] = values[name];
    if (path === undefined) fromProject.add(name);
  }
}

/**
 * Loads every variable that the environment lacks from the .env file that the user named, for the
 * user's own module.
 */
export async function loadWholeDotenv(path: string): Promise<void> {
  // Stdin was read before, for Paylink's own variables.
  if (path === '-') return;
  const values = parseEnv(await readText(path, '--dotenv'));
  for (const [name, value] of Object.entries(values)) process.env[name] ??= value;
}
