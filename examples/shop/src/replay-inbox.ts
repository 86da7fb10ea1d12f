import { sign } from '@paylink/core';
import type { Inbox } from '@paylink/payments';

export interface Webhook {
  readonly url: string;
  readonly secret: string;
}

/**
 * Sends the failed deliveries to the shop's own webhook again, and returns the answers' statuses.
 * With a PostgreSQL server, use `paylink inbox replay`.
 */
export async function replayInbox(inbox: Inbox, { url, secret }: Webhook): Promise<number[]> {
  const statuses: number[] = [];
  for (const { key } of await inbox.list({ limit: 1_000 })) {
    const delivery = await inbox.get(key);
    // Another delivery has succeeded meanwhile.
    if (delivery === undefined) continue;
    const { kind, rawBody } = delivery;
    const signature = await sign(rawBody, secret);
    const headers = { 'X-Service-Event': kind, 'X-Service-Signature': signature };
    const body = new Uint8Array(rawBody);
    const { status } = await fetch(url, { method: 'POST', headers, body });
    statuses.push(status);
  }
  return statuses;
}
