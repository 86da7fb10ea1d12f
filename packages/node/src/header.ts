import type { IncomingMessage } from 'node:http';

/**
 * Joins all lines of a header as received. `req.headers` keeps only the first line of some names,
 * and middleware that inflates a body deletes Content-Encoding there. If a prototype has the name,
 * Node keeps no line.
 */
export function headerOf(req: IncomingMessage, name: string): string | undefined {
  const { rawHeaders } = req as { readonly rawHeaders?: readonly string[] };
  if (rawHeaders === undefined || rawHeaders.length === 0) {
    // Another layer made this request, so `rawHeaders` is empty. An array is a repeated header.
    const value = ownValue(req.headers, name);
    return typeof value === 'string' ? value : undefined;
  }
  let lines: string | undefined;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const given = rawHeaders[index]!;
    if (given.length !== name.length || given.toLowerCase() !== name) continue;
    const line = rawHeaders[index + 1]!;
    lines = lines === undefined ? line : `${lines}, ${line}`;
  }
  return lines;
}

/** Reads an own property. Calls no getter, because a getter could parse unverified bytes. */
export function ownValue(object: object, name: string): unknown {
  return Object.getOwnPropertyDescriptor(object, name)?.value;
}
