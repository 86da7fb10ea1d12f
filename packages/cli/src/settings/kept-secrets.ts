/** Keeps the secrets of `paylink emulate` through a restart, in the project's folder. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { API_KEY_VARIABLE, SECRET_VARIABLE } from '../terminal/dotenv.js';
import { isVisibleToGit } from '../terminal/git.js';
import type { Output } from '../terminal/output.js';
import { writeWhole } from '../terminal/whole-file.js';

const FOLDER = '.paylink';
/** The path of the kept secrets, relative to the current folder. */
export const KEPT_SECRETS = join(FOLDER, 'secrets.env');

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

/** Writes both secrets for the owner alone. @throws Error if the folder cannot be written */
export function keepSecrets({ apiKey, webhookSecret }: KeptSecrets, output: Output): void {
  makePrivateFolder(FOLDER, output);
  writeWhole(
    KEPT_SECRETS,
    `${API_KEY_VARIABLE}=${apiKey ?? ''}\n${SECRET_VARIABLE}=${webhookSecret ?? ''}\n`,
  );
}

/** Makes a folder for the owner alone, which git ignores. Warns if git does not ignore it. */
export function makePrivateFolder(folder: string, output: Output): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, '.gitignore');
  if (!existsSync(path)) writeFileSync(path, '*\n');
  if (isVisibleToGit(folder))
    output.note(
      `git does not ignore ${folder}, which holds secrets: git rm -rq --cached ` +
        `--ignore-unmatch ${FOLDER} && echo ${FOLDER}/ >> .gitignore`,
    );
}
