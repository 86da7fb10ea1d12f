/** Counts the credits of an order through the merchant's own side: an address or a command. */
import { exec } from 'node:child_process';
import { promisify } from 'node:util';
import { InvalidArgumentError } from 'commander';
import { explainNoAnswer } from '../receiver/post.js';
import { failure } from '../terminal/failure.js';
import { quoteForShell } from '../terminal/shell.js';

const PLACE = '{reference}';
const TIMEOUT = 10_000;

export type Credits = (reference: string) => Promise<number>;

/** Parses the value of --credits: an address or a command with `{reference}`. */
export function parseCredits(value: string): Credits {
  if (!value.includes(PLACE)) throw new InvalidArgumentError(`It must contain ${PLACE}.`);
  const ask = /^https?:\/\//i.test(value) ? askAddress : askCommand;
  return async (reference) => {
    const answer = (await ask(value, reference)).trim();
    if (/^\d{1,15}$/.test(answer)) return Number(answer);
    throw failure("--credits must return only a whole number, the order's number of credits");
  };
}

async function askAddress(address: string, reference: string): Promise<string> {
  const url = new URL(address.replaceAll(PLACE, encodeURIComponent(reference)));
  const signal = AbortSignal.timeout(TIMEOUT);
  const response = await fetch(url, { redirect: 'manual', signal }).catch((error: unknown) => {
    throw failure(`--credits: ${explainNoAnswer(error, url)}`);
  });
  if (response.ok) return response.text();
  throw failure(`--credits: the address answers ${response.status}, not a number`);
}

async function askCommand(command: string, reference: string): Promise<string> {
  const line = command.replaceAll(PLACE, quoteForShell(reference));
  const { stdout } = await promisify(exec)(line, { timeout: TIMEOUT }).catch((error: unknown) => {
    const { code, stderr } = error as { readonly code?: number | null; readonly stderr: string };
    const reason = code == null ? 'it took too long' : String(code);
    throw failure(`--credits: the command failed (${reason})`, stderr.trim().split('\n', 1)[0]);
  });
  return stdout;
}
