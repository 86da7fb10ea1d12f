import { isUtf8 } from 'node:buffer';

/** The argument of Fastify's `inject`. */
export type InjectOptions = Readonly<{
  method: 'POST';
  url: string;
  headers: Record<string, string>;
  payload: Buffer;
}>;

/** One delivery in the forms that test tools take. */
export type DeliveryForms = Readonly<{
  headers: Record<string, string>;
  /**
   * The body for supertest's `send`: a string if UTF-8, otherwise a Buffer with the content type
   * `application/octet-stream`, because superagent would write a Buffer as JSON.
   */
  body: string | Buffer;
  /** The bytes of the body. */
  rawBody: Buffer;
  /** Returns a Fetch Request, for Next.js and every Fetch host. */
  toRequest(url: string | URL): Request;
  /** Returns the argument for Fastify's `inject`. */
  toInject(url: string): InjectOptions;
  /** Sends the delivery to a server. */
  send(url: string | URL): Promise<Response>;
}>;

export function inForms(rawBody: Buffer, headers: Record<string, string>): DeliveryForms {
  const toRequest = (url: string | URL): Request =>
    new Request(url, { method: 'POST', headers, body: new Uint8Array(rawBody) });
  return {
    headers,
    body: isUtf8(rawBody) ? rawBody.toString('utf8') : rawBody,
    rawBody,
    toRequest,
    toInject: (url) => ({ method: 'POST', url, headers, payload: rawBody }),
    send: (url) => fetch(toRequest(url)),
  };
}

/** Returns a content type under which every client sends the bytes unchanged. */
export function contentTypeOf(rawBody: Uint8Array): string {
  return isUtf8(rawBody) ? 'application/json' : 'application/octet-stream';
}

/** The names of the two headers, in lower case. */
export interface HeaderNames {
  readonly signature: string;
  readonly event: string;
}

/** Custom names for the two headers, as in the receiver's option. */
export interface HeaderNameOptions {
  readonly signature?: string | undefined;
  readonly event?: string | undefined;
}

export function headerNames({ signature, event }: HeaderNameOptions = {}): HeaderNames {
  return {
    signature: (signature ?? 'x-service-signature').toLowerCase(),
    event: (event ?? 'x-service-event').toLowerCase(),
  };
}
