import { describe, expect, it } from 'vitest';
import { clientOf, failure } from './raw-server.js';

describe('getPayment', () => {
  it('throws a 429 at once with its pause, and retries other failures', async () => {
    const statuses = [500, 429, 200];
    const asked: number[] = [];
    const fetch = async (): Promise<Response> => {
      const status = statuses[asked.length]!;
      asked.push(status);
      return new Response('{}', { status, headers: { 'Retry-After': '1' } });
    };
    const error = await failure(clientOf(fetch).getPayment('order-1'));
    expect(error).toMatchObject({ code: 'rate_limited', status: 429, retryAfter: 1_000 });
    expect(asked).toEqual([500, 429]);
  });

  it('asks with its one API key for every tenant that payments names', async () => {
    const sent: string[] = [];
    const fetch = async (url: string): Promise<Response> => {
      sent.push(url);
      const payment = { reference: 'order-1', type: 'payment', currency: 'XOF', status: 'success' };
      return Response.json(payment);
    };
    for (const tenant of ['acme', 'bolt', null, undefined])
      await clientOf(fetch).getPayment('order-1', { tenant });
    expect(sent).toEqual(Array(4).fill('https://service.example/api/v1/payments/order-1'));
  });
});
