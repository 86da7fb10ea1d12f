/** Loads .env files, and knows which variables came from the project's own file. */
import { existsSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { readTextFile } from './text-file.js';
import { cannotBeRead, usageFailure } from './failure.js';

export const SECRET_VARIABLE = 'WEBHOOK_SECRET';
export const API_KEY_VARIABLE = 'PAYLINK_API_KEY';
export const BASE_URL_VARIABLE = 'PAYLINK_BASE_URL';

/** The variables from the project's own .env, which no flag has named. */
const fromProject = new Set<string>();
let otherNames: readonly string[] = [];

/** Returns the names in the project's own .env that the environment lacks. */
export function namesNotLoaded(): readonly string[] {
  return otherNames.filter((name) => process.env[name] === undefined);
}

/** Returns true if the source (a variable's name) comes from the project's own .env. */
export function isOfProject(source: string): boolean {
  return fromProject.has(source);
}

/**
 * Loads the variables that the environment lacks: all of the named file, but only Paylink's own of
 * the project's .env, because the project may be a stranger's.
 */
export function loadDotenv(path: string | undefined): void {
  fromProject.clear();
  otherNames = [];
  try {
    if (path === undefined && !existsSync('.env')) return;
    const values = parseEnv(readTextFile(path ?? '.env'));
    if (path === undefined) loadOwn(values);
    else for (const [name, value] of Object.entries(values)) process.env[name] ??= value;
  } catch (error) {
    throw usageFailure(cannotBeRead('--dotenv', path ?? '.env', error));
  }
}

function loadOwn(values: NodeJS.Dict<string>): void {
  otherNames = Object.keys(values);
  for (const name of [SECRET_VARIABLE, API_KEY_VARIABLE, BASE_URL_VARIABLE]) {
    if (process.env[name] || !values[name]) continue;
    process.env[name] = values[name];
    fromProject.add(name);
  }
}
