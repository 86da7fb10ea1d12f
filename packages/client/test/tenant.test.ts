import { createReceiver, memoryStore, sign, type NoEvents } from '@paylink/core';
import { startEmulator, type Emulator } from '@paylink/emulator';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createClient, reconcile, type PaylinkClient, type Payment, type PaymentReader } from '../src/index.js';

const TENANTS = ['acme', 'bolt'] as const;
type Tenant = (typeof TENANTS)[number];

interface Host {
  readonly tenant: Tenant;
}

const secretOf = (tenant: Tenant): string => `the-webhook-secret-of-${tenant}`;
const emulators = new Map<Tenant, Emulator>();
const clients = new Map<string | undefined, PaylinkClient>();
/** Which tenant's API key was sent, and for which reference of which tenant's service. */
const asked: string[] = [];

beforeAll(async () => {
  for (const tenant of TENANTS) {
    const emulator = await startEmulator();
    emulators.set(tenant, emulator);
    const recording: typeof fetch = (input, init) => {
      const sentKey = new Headers(init?.headers).get('authorization')!.slice('Bearer '.length);
      const owner = TENANTS.find((name) => emulators.get(name)?.apiKey === sentKey);
      if (init?.method === 'GET') asked.push(`${owner} asks ${tenant}`);
      return fetch(input, init);
    };
    const { baseUrl, apiKey } = emulator;
    clients.set(tenant, createClient({ baseUrl, apiKey, fetch: recording }));
  }
});
beforeEach(() => {
  asked.length = 0;
});
afterAll(() => Promise.all(Array.from(emulators.values(), (emulator) => emulator.close())));

/** As the documents show it. */
const byTenant: PaymentReader = {
  async getPayment(reference, options) {
    const client = clients.get(options.tenant);
    if (client === undefined) throw new Error('there is no such tenant');
    return client.getPayment(reference, options);
  },
};

let orders = 0;

/** One order number, paid by a customer of each tenant. */
async function orderOfBoth(): Promise<string> {
  const reference = `order-${++orders}`;
  for (const tenant of TENANTS) {
    await clients.get(tenant)!.createPaymentLink({ amount: 1_000, reference });
    await emulators.get(tenant)!.pay(reference);
  }
  return reference;
}

function platform() {
  const credits: string[] = [];
  const idempotency = memoryStore();
  const receiver = createReceiver<NoEvents, Payment, object, Host>(
    {
      secret: ({ tenant }) => secretOf(tenant),
      tenant: ({ tenant }) => tenant,
      confirm: byTenant,
      idempotency,
    },
    ({ reference }, context) => void credits.push(`${context.tenant} ${reference}`),
  );
  const notify = async (tenant: Tenant, reference: string): Promise<number> => {
    const body = new TextEncoder().encode(JSON.stringify({ reference }));
    const headers: Record<string, string> = {
      'x-service-event': 'payment.succeeded',
      'x-service-signature': await sign(body, secretOf(tenant)),
    };
    const delivery = { method: 'POST', header: (name: string) => headers[name], body: () => Promise.resolve(body) };
    return (await receiver.receive(delivery, { tenant })).status;
  };
  const catchUp = (tenant: Tenant, references: string[]) =>
    reconcile({
      client: byTenant,
      tenant,
      references,
      idempotency,
      onSuccess: (payment, context) => void credits.push(`${context.tenant} ${payment.reference}`),
    });
  return { credits, notify, catchUp };
}

describe('two tenants with one order number', () => {
  it('are both credited once by the webhook, each asked for by its own API key (N03, N04)', async () => {
    const { credits, notify, catchUp } = platform();
    const reference = await orderOfBoth();
    for (const tenant of [...TENANTS, ...TENANTS]) expect(await notify(tenant, reference)).toBe(200);
    expect(credits).toEqual([`acme ${reference}`, `bolt ${reference}`]);
    expect(asked).toEqual(['acme asks acme', 'bolt asks bolt']);
    for (const tenant of TENANTS) expect((await catchUp(tenant, [reference])).duplicates).toEqual([reference]);
  });

  it('are both credited once by reconcile, each asked for by its own API key (N03, N04)', async () => {
    const { credits, notify, catchUp } = platform();
    const reference = await orderOfBoth();
    for (const tenant of TENANTS) expect((await catchUp(tenant, [reference])).credited).toEqual([reference]);
    expect(credits).toEqual([`acme ${reference}`, `bolt ${reference}`]);
    expect(asked).toEqual(['acme asks acme', 'bolt asks bolt']);
    for (const tenant of TENANTS) expect(await notify(tenant, reference)).toBe(200);
    expect(credits).toHaveLength(2);
  });

  it('are never asked for by one client: its API key is of one merchant', async () => {
    const reference = await orderOfBoth();
    const options = { client: clients.get('acme')!, references: [reference], onSuccess: () => undefined };
    expect((await reconcile({ ...options, tenant: 'acme', idempotency: memoryStore() })).credited).toEqual([reference]);
    const { credited, errors } = await reconcile({ ...options, tenant: 'bolt', idempotency: memoryStore() });
    expect([credited, errors]).toMatchObject([[], [{ error: { option: 'tenant' } }]]);
    expect(asked).toEqual(['acme asks acme']);
  });
});

describe('the option tenant of reconcile', () => {
  const run = (tenant: unknown, idempotency = memoryStore()) =>
    reconcile({
      client: { getPayment: async (reference) => ({ reference, type: 'payment', currency: 'XOF', status: 'success' }) },
      references: ['order-1'],
      idempotency,
      onSuccess: () => undefined,
      tenant: tenant as string,
    });

  it('false keeps the marks that were set without one', async () => {
    const idempotency = memoryStore();
    expect((await run(undefined, idempotency)).credited).toEqual(['order-1']);
    expect((await run(false, idempotency)).duplicates).toEqual(['order-1']);
    expect((await run('acme', idempotency)).credited).toEqual(['order-1']);
    expect((await run(() => Promise.resolve('acme'), idempotency)).duplicates).toEqual(['order-1']);
  });

  it.each(['', 7, null, true])('is refused as %o', async (tenant) => {
    await expect(run(tenant)).rejects.toMatchObject({ option: 'tenant' });
  });

  it('ends the run when its function fails', async () => {
    await expect(run(() => Promise.reject(new Error('no database')))).rejects.toMatchObject({ code: 'secret_unavailable' });
  });
});
