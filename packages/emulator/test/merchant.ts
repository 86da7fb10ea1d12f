import type { Emulator } from '../src/index.js';

export const FIXED = { amount: 15_000, reference: 'order-1', description: 'A basket' };
export const FREE = {
  amount_min: 500,
  amount_max: 20_000,
  reference: 'gift-1',
  description: 'A gift',
};

interface Init extends Omit<RequestInit, 'headers'> {
  readonly headers?: Record<string, string>;
  readonly duplex?: 'half';
}

/** Sends a request below `/v1` as a merchant's server does. */
export function call(emulator: Emulator, path: string, init: Init = {}): Promise<Response> {
  const headers = { 'X-Api-Key': emulator.apiKey, ...init.headers };
  return fetch(`${emulator.baseUrl}/v1/${path}`, { ...init, headers });
}

/** Posts a body to the API. */
export function postLink(
  emulator: Emulator,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<Response> {
  return call(emulator, 'payment-links', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
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
  return (await call(emulator, `payments/${encodeURIComponent(reference)}`)).json();
}
