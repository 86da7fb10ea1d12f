/** Sends requests to the merchant's webhook, and explains a missing answer. */
import { showUrl } from '../terminal/input.js';
import type { Reply } from './reply.js';

/** A server's answer with the first 16 kB of the body. */
export interface Answer extends Reply {
  readonly durationMs: number;
}

const BODY_READ = 16_384;

/**
 * Returns the answer, or the reason if none came. Does not follow redirects, because the user did
 * not name their targets.
 */
export async function post(request: Request, timeout: number): Promise<Answer | string> {
  const started = performance.now();
  const signal = AbortSignal.timeout(timeout);
  try {
    const response = await fetch(request, { redirect: 'manual', signal });
    const body = await readStart(response);
    return {
      status: response.status,
      headers: Object.fromEntries(response.headers),
      body,
      durationMs: Math.round(performance.now() - started),
    };
  } catch (error) {
    return explainNoAnswer(error, new URL(request.url));
  }
}

/** Returns the received part if the body breaks off or never ends: the status already counts. */
async function readStart(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  try {
    for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
      chunks.push(chunk);
      length += chunk.length;
      if (length >= BODY_READ) break;
    }
  } catch {}
  return Buffer.concat(chunks).subarray(0, BODY_READ).toString('utf8');
}

/** Explains a missing answer, with the fix. */
export function explainNoAnswer(error: unknown, url: URL): string {
  // fetch wraps the socket's error. An aborted request has a number as its code.
  const { cause = error } = error as { readonly cause?: unknown };
  const { name, message, code } = cause as Error & { readonly code?: unknown };
  if (message === 'bad port') return `fetch refuses port ${url.port}, as browsers do`;
  const known = MEANINGS.find(([pattern]) => pattern.test(typeof code === 'string' ? code : name));
  return known?.[1](url, String(code)) ?? message;
}

const MEANINGS: readonly (readonly [RegExp, (url: URL, code: string) => string])[] = [
  [/^TimeoutError$/, () => 'no answer in time'],
  [/^ECONNREFUSED$/, ({ host }) => `nothing listens at ${host}: is the server running?`],
  [
    /^(ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT)$/,
    ({ host }) => `${host} does not answer: check the address, and look for a firewall in between`,
  ],
  [/^(ENOTFOUND|EAI_AGAIN)$/, ({ hostname }) => `the host ${hostname} does not exist`],
  [
    /^(ECONNRESET|UND_ERR_SOCKET|EPIPE)$/,
    () => 'the server closed the connection without an answer',
  ],
  [/^(ERR_SSL|EPROTO)/, ({ host }) => `${host} does not speak TLS: did you mean http://?`],
  [
    /CERT|SELF_SIGNED|UNABLE_TO/,
    (_url, code) =>
      `its certificate is not trusted (${code}): name its authority's file in ` +
      'NODE_EXTRA_CA_CERTS',
  ],
  [/^HPE_/, (url) => `the server at ${showUrl(url)} does not speak HTTP`],
];
