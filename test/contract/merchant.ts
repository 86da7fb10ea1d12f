import { randomUUID } from 'node:crypto';
import type { Service } from './service.js';

/** The service's status, and its body if that is JSON. */
export interface Answer {
  readonly status: number;
  readonly body: unknown;
}

export type Fields = Readonly<Record<string, unknown>>;

/** Small, because the amounts may reach real books, in XOF's smallest unit, the franc. */
const AMOUNT = 100;

// For a silent service. A real one may be far away.
const PATIENCE = 15_000;

/** Returns a unique reference that tells a merchant its origin. */
export function newReference(): string {
  return `paylink-contract-suite-${randomUUID()}`;
}

/** Returns the contract's example request for a fixed amount, with every field. */
export function fixedLink(changes: Fields = {}) {
  return {
    amount: AMOUNT,
    reference: newReference(),
    description: 'Paylink contract suite: do not pay',
    return_url: 'https://merchant.example/thanks',
    cancel_url: 'https://merchant.example/basket',
    ...changes,
  };
}

/** Returns the contract's example request for a free amount. */
export function freeLink(changes: Fields = {}) {
  const { amount, ...rest } = fixedLink();
  return { ...rest, amount_min: amount, amount_max: amount * 2, ...changes };
}

export function withoutField(fields: Fields, name: string): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([key]) => key !== name));
}

/** Each way to authenticate, by its header (section 5). */
export const AUTHENTICATIONS = {
  'Authorization: Bearer': (apiKey: string) => ({ Authorization: `Bearer ${apiKey}` }),
  'X-Api-Key': (apiKey: string) => ({ 'X-Api-Key': apiKey }),
} as const;

const bearer = ({ apiKey }: Service) => AUTHENTICATIONS['Authorization: Bearer'](apiKey);

/** POST /v1/payment-links (section 4.1). */
export function createLink(
  service: Service,
  fields: unknown,
  headers: Record<string, string> = bearer(service),
): Promise<Answer> {
  return ask(`${service.baseUrl}/v1/payment-links`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify(fields),
  });
}

/** GET /v1/payments/{reference} (section 4.2). */
export function readPayment(
  service: Service,
  reference: string,
  headers: Record<string, string> = bearer(service),
): Promise<Answer> {
  return ask(`${service.baseUrl}/v1/payments/${encodeURIComponent(reference)}`, { headers });
}

/**
 * Sends a request. Returns a redirect as the answer, because the API key must not follow it to
 * another host.
 */
export async function ask(url: string, init: RequestInit = {}): Promise<Answer> {
  const response = await fetch(url, {
    ...init,
    redirect: 'manual',
    signal: AbortSignal.timeout(PATIENCE),
  });
  return { status: response.status, body: parse(await response.text()) };
}

export function isSuccess({ status }: Answer): boolean {
  return status >= 200 && status <= 299;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
