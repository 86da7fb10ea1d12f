/**
 * Loads a server by wrk (a Debian package) on the server's own core, as a batch job. On another
 * core of the same machine each reply would pay for waking the client, which a client across a
 * network never costs.
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { nodeHeaders, URL_PATH } from './delivery.js';
import { onServerCore } from './server-process.js';

const CONNECTIONS = 32;

export interface Load {
  /** Loads the server for whole seconds. Returns the number of requests. */
  run(port: number, seconds: number): Promise<number>;
  close(): void;
}

export function prepareLoad(body: Buffer): Load {
  const folder = mkdtempSync(join(tmpdir(), 'paylink-bench-'));
  const script = join(folder, 'request.lua');
  writeFileSync(script, requestScript(body));
  return {
    async run(port, seconds) {
      const wrk = ['wrk', '-t1', `-c${CONNECTIONS}`, `-d${seconds}s`, '-s', script];
      const url = `http://127.0.0.1:${port}${URL_PATH}`;
      const [file, ...args] = onServerCore(['chrt', '--batch', '0', ...wrk, url]);
      return requestsOf((await promisify(execFile)(file!, args)).stdout);
    },
    close: () => rmSync(folder, { recursive: true }),
  };
}

function requestScript(body: Buffer): string {
  const { host: _, 'content-length': __, connection: ___, ...headers } = nodeHeaders(body);
  const lines = Object.entries(headers).map(
    ([name, value]) => `wrk.headers[${quote(name)}] = ${quote(value)}`,
  );
  return ['wrk.method = "POST"', `wrk.body = ${quote(body.toString())}`, ...lines].join('\n');
}

/** The texts of the bench are ASCII without line breaks, so a Lua text is a JSON text. */
function quote(text: string): string {
  return JSON.stringify(text);
}

/** @throws Error if a request failed */
function requestsOf(output: string): number {
  const failure = /Socket errors.*|Non-2xx.*/.exec(output);
  if (failure !== null) throw new Error(`a server under load: ${failure[0]}`);
  return Number(/(\d+) requests in/.exec(output)![1]);
}
