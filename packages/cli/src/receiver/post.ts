import { showUrl } from '../terminal/input.js';
import type { Reply } from './reply.js';

/** A server's answer with the first 16 kB of the body. */
export interface Answer extends Reply {
  readonly durationMs: number;
}

const BODY_READ = 16_384;

/**
 * Sends a request and returns the answer. Does not follow redirects, because the user did not name
 * their targets. @throws Error if the server sends no answer
 */
export async function post(request: Request, timeout: number): Promise<Answer> {
  const started = performance.now();
  const response = await fetch(request, {
    redirect: 'manual',
    signal: AbortSignal.timeout(timeout),
  });
  const body = await readStart(response);
  return {
    status: response.status,
    headers: Object.fromEntries(response.headers),
    body,
    durationMs: Math.round(performance.now() - started),
  };
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
  // fetch wraps the socket's error.
  const { cause = error } = error as { cause?: unknown };
  const known = cause as { name?: string; message?: string; code?: unknown };
  const { name, message } = known;
  // An aborted request has a number as its code.
  const code = typeof known.code === 'string' ? known.code : '';
  if (name === 'TimeoutError') return 'no answer in time';
  if (code === 'ECONNREFUSED') return `nothing listens at ${url.host}: is the server running?`;
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN')
    return `the host ${url.hostname} does not exist`;
  if (code === 'ECONNRESET' || code === 'UND_ERR_SOCKET' || code === 'EPIPE')
    return 'the server closed the connection without an answer';
  if (/^(ERR_SSL|EPROTO)/.test(code))
    return `${url.host} does not speak TLS: did you mean http://?`;
  if (/CERT|SELF_SIGNED|UNABLE_TO/.test(code)) {
    return (
      `its certificate is not trusted (${code}): name its authority's file in ` +
      'NODE_EXTRA_CA_CERTS'
    );
  }
  if (code.startsWith('HPE_')) return `the server at ${showUrl(url)} does not speak HTTP`;
  if (message === 'bad port') return `fetch refuses port ${url.port}, as browsers do`;
  return message ?? (error instanceof Error ? error.message : String(error));
}
