import type { Emulator } from '../src/index.js';

export const FIXED = { amount: 15_000, reference: 'order-1', description: 'A basket' };
export const FREE = {
  amount_min: 500,
  amount_max: 20_000,
  reference: 'gift-1',
  description: 'A gift',
};

/** Posts a body to the API as a merchant's server does. */
export function postLink(
  emulator: Emulator,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<Response> {
  return fetch(`${emulator.baseUrl}/v1/payment-links`, {
    method: 'POST',
    headers: {
      Authorization: `Bearer ${emulator.apiKey}`,
      'Content-Type': 'application/json',
      ...headers,
    },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
}

/** Creates a link and returns its page's address. */
export async function createLink(emulator: Emulator, body: object = FIXED): Promise<string> {
  const response = await postLink(emulator, body);
  if (response.status !== 201) throw new Error(`${response.status} ${await response.text()}`);
  return ((await response.json()) as { url: string }).url;
}

export async function readPayment(emulator: Emulator, reference: string): Promise<unknown> {
  const response = await fetch(`${emulator.baseUrl}/v1/payments/${encodeURIComponent(reference)}`, {
    headers: { 'X-Api-Key': emulator.apiKey },
  });
  return response.json();
}
