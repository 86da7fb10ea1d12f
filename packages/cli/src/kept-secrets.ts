/**
 * The secrets that `paylink emulate` makes and keeps in the project's folder, so that a restart
 * does not change them.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { writeWhole } from './whole-file.js';

const FOLDER = '.paylink';
/** The file of the kept secrets, from the current folder. */
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
 * Writes both for the owner's eyes only, in a folder that git ignores. @throws Error when the
 * folder cannot be written
 */
export async function keepSecrets({ apiKey, webhookSecret }: KeptSecrets): Promise<void> {
  await makePrivateFolder(FOLDER);
  writeWhole(
    KEPT_SECRETS,
    `${API_KEY_VARIABLE}=${apiKey ?? ''}\n${SECRET_VARIABLE}=${webhookSecret ?? ''}\n`,
  );
}

/**
 * Makes a folder of which git ignores everything, this line included. A .gitignore that is there
 * stays as it is.
 *
 * @returns whether the .gitignore of the folder leaves everything out, which the user's own may not
 *   do
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
