import { execFile, spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);
const hasCurl = spawnSync('curl', ['--version']).status === 0;

export interface CurlOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

/**
 * Pastes a curl line into a shell, and returns its output. Without curl, the shell splits the line
 * and fetch sends it.
 */
export async function pasteCurl(
  line: string,
  { env = {}, cwd }: CurlOptions = {},
): Promise<string> {
  const environment: Record<string, string | undefined> = { PATH: process.env['PATH'], ...env };
  const options = { env: environment as NodeJS.ProcessEnv, cwd };
  if (hasCurl) return (await run('sh', ['-c', line], options)).stdout;
  const words = await run('sh', ['-c', `curl() { printf '%s\\0' "$@"; }\n${line}`], options);
  return sendAs(words.stdout.split('\0').slice(0, -1));
}

async function sendAs(words: readonly string[]): Promise<string> {
  const after = (flag: string): string[] => words.filter((_, index) => words[index - 1] === flag);
  const headers = after('-H').map((header): [string, string] => {
    const colon = header.indexOf(':');
    return [header.slice(0, colon), header.slice(colon + 1).trim()];
  });
  const [file] = after('--data-binary');
  const [data] = after('-d');
  const body = file === undefined ? data : await readFile(file.slice(1));
  const url = words.find((word) => word.startsWith('http'))!;
  const response = await fetch(url, {
    method: after('-X')[0] ?? 'GET',
    headers,
    ...(body === undefined ? {} : { body }),
  });
  return response.text();
}
