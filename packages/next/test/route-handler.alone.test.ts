import { notFound, redirect } from 'next/navigation.js';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { WebhookError } from '@paylink/core';
import { signedDelivery, TEST_SECRET } from '@paylink/testing';
import { paymentWebhook, type NextHost } from '../src/index.js';
import { paymentWebhookApi } from '../src/pages.js';

const secret = TEST_SECRET;
const URL_OF_ROUTE = 'http://localhost/api/webhooks/payments';

beforeEach(() => {
  vi.spyOn(console, 'error').mockReturnValue(undefined);
  vi.spyOn(console, 'warn').mockReturnValue(undefined);
});
afterEach(() => {
  vi.restoreAllMocks();
});

async function told(response: Response): Promise<[number, unknown]> {
  return [response.status, await response.json()];
}

describe('a route handler of the App Router', () => {
  it('credits a genuine delivery and refuses a forged one, called as the documents show it', async () => {
    const credited: string[] = [];
    const POST = paymentWebhook(
      { secret },
      { 'payment.succeeded': ({ reference }) => void credited.push(reference) },
    );
    const delivery = signedDelivery({ secret, reference: 'order-42' });
    expect(await told(await POST(delivery.toRequest(URL_OF_ROUTE)))).toEqual([
      200,
      { received: true },
    ]);
    const forged = await POST(
      signedDelivery({ secret: 'a-secret-of-nobody' }).toRequest(URL_OF_ROUTE),
    );
    expect(forged.headers.get('www-authenticate')).toBe('Signature');
    expect(await told(forged)).toEqual([401, { error: 'invalid_signature' }]);
    expect(credited).toEqual(['order-42']);
  });

  it('chooses the secret and the tenant by the parameters', async () => {
    const secrets: Record<string, string> = { a: 'secret-of-tenant-a', b: 'secret-of-tenant-b' };
    const tenants: unknown[] = [];
    const secretOf = async ({ params }: NextHost) => {
      const tenant = String((await params)?.['tenant']);
      return { secret: secrets[tenant], tenant };
    };
    const POST = paymentWebhook({ secret: secretOf }, ({ tenant }) => void tenants.push(tenant));
    const to = async (tenant: string): Promise<number> => {
      const request = signedDelivery({ secret: 'secret-of-tenant-a' }).toRequest(URL_OF_ROUTE);
      return (await POST(request, { params: Promise.resolve({ tenant }) })).status;
    };
    expect([await to('a'), await to('b'), await to('c')]).toEqual([200, 401, 503]);
    expect(tenants).toEqual(['a']);
  });

  it(
    'answers 500 for a redirect or a 404 of Next.js, and a WebhookError with its status',
    { tags: 'G01' },
    async () => {
      for (const navigate of [() => redirect('/leaked'), notFound]) {
        const POST = paymentWebhook({ secret }, navigate);
        const response = await POST(signedDelivery({ secret }).toRequest(URL_OF_ROUTE));
        expect(await told(response)).toEqual([500, { error: 'handler_failed' }]);
      }
      const refuse = paymentWebhook({ secret }, () =>
        Promise.reject(new WebhookError('unknown_order')),
      );
      expect(await told(await refuse(signedDelivery({ secret }).toRequest(URL_OF_ROUTE)))).toEqual([
        503,
        { error: 'unknown_order' },
      ]);
    },
  );
});

describe('a mistake of set-up', () => {
  it.each([
    ['a secret', secret],
    ['no secret', undefined],
  ])('names the right import if the other router calls a route with %s', async (_which, given) => {
    const call = paymentWebhook({ secret: given }, () => undefined) as unknown as (
      request: object,
      response: object,
    ) => Promise<unknown>;
    const isForApp =
      /^paymentWebhook is for the App Router.*import \{ paymentWebhookApi \} from '@paylink\/next\/pages'/;
    for (const request of [{ method: 'POST', headers: {} }, {}])
      await expect(call(request, {})).rejects.toThrow(isForApp);
    const route = paymentWebhookApi({ secret: given }, () => undefined) as unknown as (
      request: Request,
    ) => Promise<unknown>;
    const isForPages =
      /^paymentWebhookApi is for the Pages Router.*import \{ paymentWebhook \} from '@paylink\/next'/;
    await expect(route(signedDelivery().toRequest(URL_OF_ROUTE))).rejects.toThrow(isForPages);
  });

  it.each([undefined, '', ' blank ', [], ['a-secret', undefined]])(
    'answers every request with 500 and is logged once: secret %j',
    async (fault) => {
      const handler = vi.fn();
      const POST = paymentWebhook({ secret: fault }, handler);
      expect(console.error).not.toHaveBeenCalled();
      for (let time = 0; time < 3; time++) {
        const response = await POST(signedDelivery({ secret }).toRequest(URL_OF_ROUTE));
        expect(response.headers.get('content-type')).toBe('application/json');
        expect(await told(response)).toEqual([500, { error: 'misconfigured' }]);
      }
      expect(vi.mocked(console.error).mock.calls).toEqual([
        [
          expect.stringMatching(
            /^\[paylink\] 500 misconfigured: this route cannot verify \(secret/,
          ),
        ],
      ]);
      expect(handler).not.toHaveBeenCalled();
    },
  );

  it('drops the body that it leaves unread', async () => {
    vi.useFakeTimers();
    const cancel = vi.fn();
    const body = new ReadableStream<Uint8Array>({ cancel });
    const request = new Request(URL_OF_ROUTE, { method: 'POST', body, duplex: 'half' });
    expect((await paymentWebhook({ secret: undefined }, () => undefined)(request)).status).toBe(
      500,
    );
    await vi.advanceTimersByTimeAsync(1_000);
    vi.useRealTimers();
    expect(cancel).toHaveBeenCalledOnce();
  });

  it('reports a missing secret to the logger of the options', async () => {
    const logger = { warn: vi.fn(), error: vi.fn() };
    const POST = paymentWebhook({ secret: undefined, logger }, () => undefined);
    await POST(signedDelivery({ secret }).toRequest(URL_OF_ROUTE));
    expect(logger.error).toHaveBeenCalledExactlyOnceWith(
      '[paylink] 500 misconfigured: this route cannot verify (secret is missing. ' +
        'Did you set WEBHOOK_SECRET?)',
      expect.objectContaining({ code: 'misconfigured', status: 500 }),
    );
    expect(console.error).not.toHaveBeenCalled();
  });
});
