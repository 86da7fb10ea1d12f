import http from 'node:http';

export interface Answer {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly body: string;
}

export interface Unfinished {
  readonly method?: string;
  readonly headers?: http.OutgoingHttpHeaders;
  /** What is sent of the body. */
  readonly body?: Uint8Array | string;
  /** Whether the body ends there. Default: it does not, and the sender waits for its answer. */
  readonly end?: boolean;
}

/**
 * Sends what `fetch` would correct or refuse: a length that is not the body's, a body that never
 * ends.
 */
export function send(
  url: string,
  { method = 'POST', headers = {}, body, end = false }: Unfinished,
  milliseconds = 10_000,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = http.request(url, { method, headers, agent: false }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (piece: string) => (text += piece));
      response.on('end', () => {
        clearTimeout(timer);
        resolve({ status: response.statusCode!, headers: response.headers, body: text });
        request.destroy();
      });
    });
    const timer = setTimeout(
      () => request.destroy(new Error(`no answer in ${milliseconds} ms`)),
      milliseconds,
    );
    // After the answer the server may reset what is still being sent.
    request.on('error', reject);
    request.flushHeaders();
    if (body !== undefined) request.write(body);
    if (end) request.end();
  });
}
