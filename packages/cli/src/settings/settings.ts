/**
 * Finds secrets and addresses, in this order: flag, file, environment, .env file, the emulator's
 * kept secrets.
 */
import type { Command } from 'commander';
import { sign } from '@paylink/core';
import { isConfigurationError, usageFailure } from '../terminal/failure.js';
import {
  API_KEY_VARIABLE,
  BASE_URL_VARIABLE,
  SECRET_VARIABLES,
  isOfProject,
} from '../terminal/dotenv.js';
import { readText } from '../terminal/input.js';
import { KEPT_SECRETS, readKeptSecrets } from './kept-secrets.js';
import type { Output } from '../terminal/output.js';

export const SECRET_ENVIRONMENT = [
  'PAYLINK_WEBHOOK_SECRET, WEBHOOK_SECRET',
  'the webhook secret (the first that is set)',
] as const;
export const API_ENVIRONMENT = [
  [API_KEY_VARIABLE, 'the API key'],
  [BASE_URL_VARIABLE, 'the address of the service, ending before /v1'],
] as const;

export interface SecretFlags {
  readonly secret?: string;
  readonly secretFile?: string;
}

export interface ApiKeyFlags {
  readonly apiKey?: string;
  readonly apiKeyFile?: string;
}

export function addSecretOptions(command: Command): Command {
  return command
    .option(
      '--secret <secret>',
      'the webhook secret. The environment or --secret-file keep it out of the shell history',
    )
    .option('--secret-file <path>', 'a file that holds the webhook secret; - is stdin');
}

export function addApiKeyOptions(command: Command): Command {
  return command
    .option(
      '--api-key <key>',
      'the API key. The environment or --api-key-file keep it out of the shell history',
    )
    .option('--api-key-file <path>', 'a file that holds the API key; - is stdin');
}

/** A value with the name of its source. Messages print the name instead of the value. */
export interface Setting {
  readonly value: string;
  readonly source: string;
}

/**
 * Returns the webhook secret and hides it from all later output. @throws Failure if the secret is
 * missing or invalid
 */
export async function requireSecret(flags: SecretFlags, output: Output): Promise<string> {
  return (await findSecret(flags, output)) ?? failForSecret();
}

/** Like `requireSecret`, but returns undefined if the secret is missing. */
export async function findSecret(flags: SecretFlags, output: Output): Promise<string | undefined> {
  return (await findGivenSecret(flags, output))?.value ?? keptSecret(output);
}

/** Like `findSecret`, but ignores the emulator's kept secrets. */
export async function findGivenSecret(
  flags: SecretFlags,
  output: Output,
): Promise<Setting | undefined> {
  const found = await lookForSecret(flags, output);
  if (found !== undefined) await checkSecret(found);
  return found;
}

/** Like `requireSecret`, but accepts a secret that receivers reject. */
export async function requireSecretAsIs(flags: SecretFlags, output: Output): Promise<string> {
  return (await lookForSecret(flags, output))?.value ?? keptSecret(output) ?? failForSecret();
}

function failForSecret(): never {
  throw usageFailure(
    'no webhook secret',
    'set WEBHOOK_SECRET in the environment or in .env, or give --dotenv, --secret-file or --secret',
  );
}

function keptSecret(output: Output): string | undefined {
  const { webhookSecret } = readKeptSecrets();
  if (webhookSecret !== undefined) output.advise(`the webhook secret comes from ${KEPT_SECRETS}`);
  output.hide(webhookSecret);
  return webhookSecret;
}

async function lookForSecret(
  { secret, secretFile }: SecretFlags,
  output: Output,
): Promise<Setting | undefined> {
  return find(
    {
      what: 'the webhook secret',
      flag: ['--secret', secret],
      file: ['--secret-file', secretFile],
      variables: SECRET_VARIABLES,
    },
    output,
  );
}

/** Returns the API key and hides it from all later output. Ignores the emulator's kept key. */
export async function findGivenApiKey(
  { apiKey, apiKeyFile }: ApiKeyFlags,
  output: Output,
): Promise<Setting | undefined> {
  return find(
    {
      what: 'the API key',
      flag: ['--api-key', apiKey],
      file: ['--api-key-file', apiKeyFile],
      variables: [API_KEY_VARIABLE],
    },
    output,
  );
}

/**
 * Like `findGivenApiKey`, but falls back to the emulator's kept key if the emulator is on this
 * machine.
 */
export async function findEmulatorApiKey(
  flags: ApiKeyFlags,
  output: Output,
): Promise<Setting | undefined> {
  const found = await findGivenApiKey(flags, output);
  const { apiKey } = readKeptSecrets();
  if (found !== undefined || apiKey === undefined) return found;
  output.hide(apiKey);
  return { value: apiKey, source: KEPT_SECRETS };
}

interface Places {
  readonly what: string;
  readonly flag: readonly [name: string, value: string | undefined];
  readonly file: readonly [name: string, path: string | undefined];
  readonly variables: readonly string[];
}

async function find(places: Places, output: Output): Promise<Setting | undefined> {
  const found = await look(places, output);
  output.hide(found?.value);
  return found;
}

async function look(
  { what, flag, file, variables }: Places,
  output: Output,
): Promise<Setting | undefined> {
  const [flagName, value] = flag;
  const [fileName, path] = file;
  if (value !== undefined && path !== undefined)
    throw usageFailure(`${flagName} and ${fileName} cannot both be given`);
  if (value !== undefined) {
    if (value === '')
      throw usageFailure(`${flagName} is empty`, 'is the shell variable behind this flag set?');
    output.advise(
      `${flagName} stays in the shell history and shows in the process list; ` +
        `${variables.at(-1)!} in the environment does not`,
    );
    return { value, source: flagName };
  }
  // Editors and echo end a file with a line break. The portal's secrets do not.
  if (path !== undefined)
    return { value: (await readText(path, fileName)).replace(/\r?\n$/, ''), source: fileName };
  const variable = variables.find((name) => process.env[name]);
  if (variable === undefined) return undefined;
  if (isOfProject(variable)) output.advise(`${what} comes from .env`);
  return { value: process.env[variable]!, source: variable };
}

/** @throws Failure if Paylink's receivers would reject the secret */
async function checkSecret({ value, source }: Setting): Promise<void> {
  try {
    await sign('', value);
  } catch (error) {
    if (!isConfigurationError(error)) throw error;
    throw usageFailure(`${source}${error.message.slice(error.option.length)}`);
  }
}
