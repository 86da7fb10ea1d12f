/** Keeps the secrets of `paylink emulate` through a restart, in the project's folder. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { API_KEY_VARIABLE, SECRET_VARIABLE } from '../terminal/dotenv.js';
import { readTextFile } from '../terminal/text-file.js';
import { cannotBeRead, cannotBeWritten, failure, usageFailure } from '../terminal/failure.js';
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
  const values = parseEnv(readIfThere());
  const valueOf = (name: string): string | undefined =>
    values[name] === '' ? undefined : values[name];
  return { apiKey: valueOf(API_KEY_VARIABLE), webhookSecret: valueOf(SECRET_VARIABLE) };
}

function readIfThere(): string {
  try {
    return existsSync(KEPT_SECRETS) ? readTextFile(KEPT_SECRETS) : '';
  } catch (error) {
    const problem = cannotBeRead('the secrets of emulate', KEPT_SECRETS, error);
    throw usageFailure(problem, 'delete it: the next paylink emulate creates new secrets');
  }
}

/** Writes both secrets for the owner alone. @throws Failure if the folder cannot be written */
export function keepSecrets({ apiKey, webhookSecret }: KeptSecrets, output: Output): void {
  makePrivateFolder(output);
  const text = `${API_KEY_VARIABLE}=${apiKey ?? ''}\n${SECRET_VARIABLE}=${webhookSecret ?? ''}\n`;
  orFail(KEPT_SECRETS, () => writeWhole(KEPT_SECRETS, text, 0o600));
}

/** Makes a folder for the owner alone, which git ignores. Warns if git does not ignore it. */
function makePrivateFolder(output: Output): void {
  orFail(FOLDER, () => {
    mkdirSync(FOLDER, { recursive: true, mode: 0o700 });
    const path = join(FOLDER, '.gitignore');
    if (!existsSync(path)) writeFileSync(path, '*\n');
  });
  if (isVisibleToGit(FOLDER))
    output.note(
      `git does not ignore ${FOLDER}, which contains secrets: git rm -rq --cached ` +
        `--ignore-unmatch ${FOLDER} && echo ${FOLDER}/ >> .gitignore`,
    );
}

function orFail(path: string, write: () => void): void {
  try {
    write();
  } catch (error) {
    throw failure(cannotBeWritten(path, error));
  }
}
