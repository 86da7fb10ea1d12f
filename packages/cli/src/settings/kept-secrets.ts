/**
 * Keeps the secrets of `paylink emulate` in the project's folder, so that a restart does not change
 * them.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { writeWhole } from './whole-file.js';

const FOLDER = '.paylink';
/** The path of the kept secrets, relative to the current folder. */
export const KEPT_SECRETS = join(FOLDER, 'secrets.env');
const API_KEY_VARIABLE = 'PAYLINK_API_KEY';
const SECRET_VARIABLE = 'WEBHOOK_SECRET';

export interface KeptSecrets {
  readonly apiKey: string | undefined;
  readonly webhookSecret: string | undefined;
}

export function readKeptSecrets(): KeptSecrets {
  const values = existsSync(KEPT_SECRETS) ? parseEnv(readFileSync(KEPT_SECRETS, 'utf8')) : {};
  const valueOf = (name: string): string | undefined =>
    values[name] === '' ? undefined : values[name];
  return { apiKey: valueOf(API_KEY_VARIABLE), webhookSecret: valueOf(SECRET_VARIABLE) };
}

/**
 * Writes both secrets with owner-only permissions, in a folder that git ignores. @throws Error if
 * the folder cannot be written
 */
export async function keepSecrets({ apiKey, webhookSecret }: KeptSecrets): Promise<void> {
  await makePrivateFolder(FOLDER);
  writeWhole(
    KEPT_SECRETS,
    `${API_KEY_VARIABLE}=${apiKey ?? ''}\n${SECRET_VARIABLE}=${webhookSecret ?? ''}\n`,
  );
}

/**
 * Makes a folder that git ignores, including its .gitignore. An existing .gitignore stays
 * unchanged.
 *
 * @returns true if the folder's .gitignore ignores everything. A user's own .gitignore may not.
 */
export async function makePrivateFolder(folder: string): Promise<boolean> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, '.gitignore');
  try {
    await writeFile(path, '*\n', { flag: 'wx' });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    return (await readFile(path, 'utf8')).trim() === '*';
  }
}
