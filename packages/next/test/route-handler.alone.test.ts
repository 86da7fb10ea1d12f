import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
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

  it.each([undefined, ['a-secret', undefined]])(
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
});
