/**
 * Finds the webhook secret and the API key, in this order: flag, file, environment, .env file, the
 * secrets that the emulator saved.
 */
import { isUtf8 } from 'node:buffer';
import { Option } from 'commander';
import { API_KEY_VARIABLE, SECRET_VARIABLE } from '../terminal/dotenv.js';
import { isConfigurationError, usageFailure } from '../terminal/failure.js';
import { readBytes } from '../terminal/input.js';
import type { Output } from '../terminal/output.js';
import { KEPT_SECRETS, readKeptSecrets } from './kept-secrets.js';

export interface SecretFlags {
  readonly secret?: string;
  readonly secretFile?: string;
}

export interface ApiKeyFlags {
  readonly apiKey?: string;
  readonly apiKeyFile?: string;
}

export const SECRET_OPTIONS = [
  new Option(
    '--secret <secret>',
    `the webhook secret (default: ${SECRET_VARIABLE} from the environment)`,
  ),
  new Option('--secret-file <path>', 'a file that contains the webhook secret').conflicts('secret'),
];

export const API_KEY_OPTIONS = [
  new Option('--api-key <key>', `the API key (default: ${API_KEY_VARIABLE} from the environment)`),
  new Option('--api-key-file <path>', 'a file that contains the API key').conflicts('apiKey'),
];

/** A value with the name of its source. Messages print the name instead of the value. */
export interface Setting {
  readonly value: string;
  readonly source: string;
}

/** Finds the webhook secret, and hides it from all later output. */
export async function findSecret(
  { secret, secretFile }: SecretFlags,
  output: Output,
): Promise<Setting | undefined> {
  const given = { '--secret': secret, '--secret-file': secretFile };
  return hidden(await find(given, SECRET_VARIABLE), output);
}

/** Finds the API key, and hides it from all later output. */
export async function findApiKey(
  { apiKey, apiKeyFile }: ApiKeyFlags,
  output: Output,
): Promise<Setting | undefined> {
  const given = { '--api-key': apiKey, '--api-key-file': apiKeyFile };
  return hidden(await find(given, API_KEY_VARIABLE), output);
}

/** Returns what `emulate` kept, which only an emulator on this machine accepts. */
export function keptSetting(name: 'webhookSecret' | 'apiKey', output: Output): Setting | undefined {
  const value = readKeptSecrets()[name];
  return hidden(value === undefined ? undefined : { value, source: KEPT_SECRETS }, output);
}

/** Like `findSecret`, with the kept secret as the last source. @throws Failure without a secret */
export async function requireSecret(flags: SecretFlags, output: Output): Promise<Setting> {
  const found = (await findSecret(flags, output)) ?? keptSetting('webhookSecret', output);
  if (found !== undefined) return found;
  throw usageFailure(
    'no webhook secret',
    `set ${SECRET_VARIABLE} in the environment or in .env, or pass --dotenv or --secret-file`,
  );
}

/** @throws Failure if Paylink's receivers would reject the secret */
export async function validateSecret(secret: Setting): Promise<Setting> {
  const { sign } = await import('@paylink/core');
  try {
    await sign('', secret.value);
    return secret;
  } catch (error) {
    if (!isConfigurationError(error)) throw error;
    throw usageFailure(`${secret.source}${error.message.slice(error.option.length)}`);
  }
}

/** Returns the text of a valid secret. @throws Failure without one */
export async function requireValidSecret(flags: SecretFlags, output: Output): Promise<string> {
  return (await validateSecret(await requireSecret(flags, output))).value;
}

async function find(
  given: Readonly<Record<string, string | undefined>>,
  variable: string,
): Promise<Setting | undefined> {
  for (const [source, value] of Object.entries(given)) {
    if (value === undefined) continue;
    if (value === '')
      throw usageFailure(`${source} is empty`, 'is the shell variable behind this flag set?');
    return { value: source.endsWith('-file') ? await readLine(value, source) : value, source };
  }
  const value = process.env[variable];
  return value ? { value, source: variable } : undefined;
}

/** Editors and echo end a file with a line break. The portal's secrets do not. */
async function readLine(path: string, source: string): Promise<string> {
  const bytes = await readBytes(path, source);
  if (!isUtf8(bytes)) throw usageFailure(`${source}: ${path} is not UTF-8 text`);
  return bytes.toString('utf8').replace(/\r?\n$/, '');
}

function hidden(found: Setting | undefined, output: Output): Setting | undefined {
  output.hide(found?.value);
  return found;
}
