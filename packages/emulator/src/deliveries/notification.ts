import { sign } from '@paylink/core';

export type HeaderLine = readonly [name: string, value: string];

/** A notification, ready to send: each header line and every byte. */
export interface Notification {
  readonly headers: readonly HeaderLine[];
  readonly body: Buffer;
}

export interface NotificationParts {
  readonly body: Buffer;
  readonly event: string;
  readonly contentType: string;
  readonly secret: string;
}

/** Signs a body (docs/service.md 6.3) and adds the headers. */
export async function signNotification({
  body,
  event,
  contentType,
  secret,
}: NotificationParts): Promise<Notification> {
  return { headers: headersOf(event, contentType, await sign(body, secret)), body };
}

export function headersOf(
  event: string,
  contentType: string,
  ...signatures: readonly string[]
): HeaderLine[] {
  return [
    ['Content-Type', contentType],
    ['X-Service-Event', event],
    ...signatures.map((signature): HeaderLine => ['X-Service-Signature', signature]),
  ];
}
