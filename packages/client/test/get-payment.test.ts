import { describe, expect, it } from 'vitest';
import { createClient, isPaylinkError } from '../src/index.js';
import { API_KEY, failure } from './raw-server.js';

const baseUrl = 'https://service.example/api';

describe('getPayment', () => {
  it('leaves the wait for a rate limit to the caller if retryLimited is false, and retries other failures', async () => {
    const statuses = [500, 429, 200];
    const asked: number[] = [];
    const client = createClient({
      baseUrl,
      apiKey: API_KEY,
      fetch: async () => {
        const status = statuses[asked.length]!;
        asked.push(status);
        const headers: Record<string, string> = status === 429 ? { 'Retry-After': '1' } : {};
        return new Response('{}', { status, headers });
      },
    });
    const error = await failure(client.getPayment('order-1', { retryLimited: false }));
    expect(isPaylinkError(error) && [error.code, error.retryAfter]).toEqual([
      'rate_limited',
      1_000,
    ]);
    expect(asked).toEqual([500, 429]);
  });

  it('rejects a second tenant, because a client has one merchant’s API key', async () => {
    const sent: string[] = [];
    const fetch = async (url: string): Promise<Response> => {
      sent.push(url);
      const payment = { reference: 'order-1', type: 'payment', currency: 'XOF', status: 'success' };
      return Response.json(payment);
    };
    const client = createClient({ baseUrl, apiKey: API_KEY, fetch });
    await client.getPayment('order-1', { tenant: 'acme' });
    await client.getPayment('order-1', { tenant: 'acme' });
    await client.getPayment('order-1');
    for (const tenant of ['bolt', undefined]) {
      const error = await failure(client.getPayment('order-1', { tenant }));
      expect(error).toMatchObject({ option: 'tenant', code: 'misconfigured' });
    }
    expect(sent).toHaveLength(3);
  });
});
