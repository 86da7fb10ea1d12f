import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ask, createLink, fixedLink, freeLink, isSuccess, withoutField } from './merchant.js';
import { openService, type Service } from './service.js';

let service: Service;
beforeAll(async () => {
  service = await openService();
});
afterAll(() => service.close());

interface LinkBody {
  readonly token: string;
  readonly url: string;
}

describe('2.1 the request', () => {
  it('2.1 rule 1 takes a fixed amount in amount', async () => {
    expect((await createLink(service, fixedLink())).status).toBe(201);
  });

  it('2.1 rule 2 takes a free amount in amount_min, amount_max and description', async () => {
    expect((await createLink(service, freeLink())).status).toBe(201);
  });

  it.each([true, false])('2.1 accepts single_use %s', async (single_use) => {
    expect((await createLink(service, fixedLink({ single_use }))).status).toBe(201);
    expect((await createLink(service, freeLink({ single_use }))).status).toBe(201);
  });

  it('2.1 requires a reference', async () => {
    expect((await createLink(service, withoutField(fixedLink(), 'reference'))).status).not.toBe(
      201,
    );
  });

  it('2.1 requires a description for a free amount', async () => {
    expect((await createLink(service, withoutField(freeLink(), 'description'))).status).not.toBe(
      201,
    );
  });
});

describe.each([
  ['a fixed amount', fixedLink],
  ['a free amount', freeLink],
])('2.2 the link, for %s', (_, request) => {
  const fields = request();
  let body: LinkBody;
  beforeAll(async () => {
    const answer = await createLink(service, fields);
    expect(answer.status).toBe(201);
    body = answer.body as LinkBody;
  });

  it('2.2 has a string token that is the last path segment of url', () => {
    expect(body.token).toEqual(expect.any(String));
    expect(body.token).not.toBe('');
    expect(body.url).toEqual(expect.any(String));
    expect(decodeURIComponent(new URL(body.url).pathname.split('/').at(-1)!)).toBe(body.token);
  });

  it('2.2 has a url of the form {pay_url}/link/<link_token>', () => {
    expect(new URL(body.url).pathname).toMatch(/\/link\/[^/]+$/);
  });

  it('2.2 has a url that serves a page', async () => {
    const page = await fetch(body.url, { signal: AbortSignal.timeout(15_000) });
    expect(page.ok).toBe(true);
    expect(page.headers.get('content-type')).toContain('html');
  });

  it('2.2 has the currency XOF', () => {
    expect(body).toMatchObject({ currency: 'XOF' });
  });

  it('2.2 echoes the reference', () => {
    expect(body).toMatchObject({ reference: fields.reference });
  });

  it('2.2 has the status pending', () => {
    expect(body).toMatchObject({ status: 'pending' });
  });
});

describe('4.1 creation', () => {
  it('4.1 and 7 answers 201 with the link as a JSON object', async () => {
    const { status, body } = await createLink(service, fixedLink());
    expect(status).toBe(201);
    expect(body).toMatchObject({
      token: expect.any(String) as string,
      url: expect.any(String) as string,
    });
  });

  it('2.2 returns the requested amount of a fixed link as an integer', async () => {
    const fields = fixedLink();
    expect((await createLink(service, fields)).body).toMatchObject({ amount: fields.amount });
  });

  it('4.1 accepts a unique Idempotency-Key', async () => {
    const headers = { Authorization: `Bearer ${service.apiKey}`, 'Idempotency-Key': randomUUID() };
    expect((await createLink(service, fixedLink(), headers)).status).toBe(201);
  });

  it('4.1 accepts an Idempotency-Key that is derived from the reference', async () => {
    const fields = fixedLink();
    const headers = {
      Authorization: `Bearer ${service.apiKey}`,
      'Idempotency-Key': `link-for-${fields.reference}`,
    };
    expect((await createLink(service, fields, headers)).body).toMatchObject({
      reference: fields.reference,
    });
  });

  it('4.1 gives each link its own token', async () => {
    const [one, other] = await Promise.all([
      createLink(service, fixedLink()),
      createLink(service, fixedLink()),
    ]);
    expect((one.body as LinkBody).token).not.toBe((other.body as LinkBody).token);
  });
});

describe('1 and 9 the address', () => {
  it('1 {base_url} ends in a path segment, before the version segment', () => {
    expect(new URL(service.baseUrl).pathname).toMatch(/\/[^/]+$/);
    expect(new URL(service.baseUrl).pathname).not.toMatch(/\/v1$/);
  });

  it('9 answers only under /v1', async () => {
    const headers = {
      Authorization: `Bearer ${service.apiKey}`,
      'Content-Type': 'application/json',
    };
    const fields = fixedLink();
    const init = { method: 'POST', headers, body: JSON.stringify(fields) };
    expect((await ask(`${service.baseUrl}/payment-links`, init)).status).not.toBe(201);
    expect((await ask(`${service.baseUrl}/v1/payment-links`, init)).status).toBe(201);
    expect(
      isSuccess(await ask(`${service.baseUrl}/payments/${fields.reference}`, { headers })),
    ).toBe(false);
    expect(
      isSuccess(await ask(`${service.baseUrl}/v1/payments/${fields.reference}`, { headers })),
    ).toBe(true);
  });
});
