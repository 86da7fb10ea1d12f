/**
 * Holds docs/public/openapi.yaml against the emulator and the client: every request, reply and
 * notification fits it.
 */
import { readFile } from 'node:fs/promises';
import { createClient } from '@paylink/client';
import { startEmulator } from '@paylink/emulator';
import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { compile } from 'json-schema-to-typescript';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parse } from 'yaml';
import { serve } from '../docs/blocks.js';

const FILE = new URL('../../docs/public/openapi.yaml', import.meta.url);
const text = await readFile(FILE, 'utf8');

const ajv = new Ajv2020({ strict: false, allErrors: true });
ajv.addFormat('uri', (address: string) => URL.canParse(address));
ajv.addSchema(parse(text) as object, 'openapi.yaml');

/** Throws unless the value fits the schema at a JSON pointer of the document. */
function mustFit(pointer: string, value: unknown): void {
  const validate = ajv.compile({ $ref: `openapi.yaml#${pointer}` });
  if (!validate(value))
    throw new Error(`${pointer}: ${ajv.errorsText(validate.errors)} in ${JSON.stringify(value)}`);
}

const pointerTo = (...path: string[]): string =>
  path.map((part) => `/${part.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');

interface Operation {
  readonly parameters: readonly { readonly name: string; readonly in: string }[];
  readonly responses: Readonly<Record<string, { readonly content?: object }>>;
}
const { paths, webhooks } = parse(text) as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly webhooks: Readonly<Record<string, { readonly post: Operation }>>;
};
const JSON_BODY = ['content', 'application/json', 'schema'];

/** Sends a request, and holds the request and its reply against the document. */
async function checkedFetch(base: string, seen: string[], url: string, init: RequestInit) {
  const path = url.slice(base.length);
  const template = Object.keys(paths).find((each) =>
    new RegExp(`^${each.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(path),
  )!;
  const method = init.method!.toLowerCase();
  const operation = paths[template]![method]!;
  const headers = new Headers(init.headers);
  expect(headers.get('authorization') ?? headers.get('x-api-key')).toMatch(/sk_/);
  const standard = ['accept', 'authorization', 'content-type', 'x-api-key'];
  const named = operation.parameters.map(({ name }) => name.toLowerCase());
  expect([...headers.keys()].filter((name) => ![...standard, ...named].includes(name))).toEqual([]);
  const at = ['paths', template, method];
  if (init.body !== undefined)
    mustFit(pointerTo(...at, 'requestBody', ...JSON_BODY), JSON.parse(init.body as string));
  const reply = await fetch(url, init);
  const status = String(reply.status);
  seen.push(`${init.method} ${template} ${status}`);
  if (operation.responses[status] !== undefined)
    mustFit(pointerTo(...at, 'responses', status, ...JSON_BODY), await reply.clone().json());
  return reply;
}

describe('the OpenAPI document', () => {
  it('is valid OpenAPI 3.1 with one webhook', async () => {
    const { valid, errors } = await new Validator().validate(text);
    expect(errors ?? []).toEqual([]);
    expect([valid, Object.keys(webhooks)]).toEqual([true, ['payment.succeeded']]);
  });

  it('describes each request of the client and each reply of the emulator', async () => {
    const emulator = await startEmulator();
    onTestFinished(() => emulator.close());
    const { baseUrl, apiKey } = emulator;
    const seen: string[] = [];
    for (const authentication of ['bearer', 'x-api-key'] as const) {
      const client = createClient({
        baseUrl,
        apiKey,
        authentication,
        retries: 0,
        fetch: (url, init) => checkedFetch(baseUrl, seen, url, init),
      });
      const fixed = {
        amount: 15_000,
        description: 'A basket',
        return_url: 'https://shop.example/thanks',
        cancel_url: 'https://shop.example/cart',
        single_use: true,
      };
      const bounds = { amount_min: 500, amount_max: 5_000, description: 'A gift' };
      for (const [end, link] of [
        ['pay', fixed],
        ['fail', fixed],
        ['cancel', { amount: 1 }],
        ['pay', bounds],
      ] as const) {
        const reference = crypto.randomUUID();
        await client.createPaymentLink({ ...link, reference });
        await client.getPayment(reference);
        await (end === 'pay' && link === bounds
          ? emulator.pay(reference, { amount: 700 })
          : emulator[end](reference));
        await client.getPayment(reference);
      }
      await expect(client.getPayment('unknown/50%')).rejects.toMatchObject({ status: 404 });
    }
    expect([...new Set(seen)].sort()).toEqual([
      'GET /v1/payments/{reference} 200',
      'GET /v1/payments/{reference} 404',
      'POST /v1/payment-links 201',
    ]);
  });

  it('describes the notification that the emulator sends', async () => {
    const received: { headers: Record<string, unknown>; body: string }[] = [];
    const url = await serve(async (req, res) => {
      const pieces: Buffer[] = [];
      for await (const piece of req) pieces.push(piece as Buffer);
      received.push({ headers: req.headers, body: Buffer.concat(pieces).toString() });
      res.end();
    });
    const emulator = await startEmulator({ webhook: { url } });
    onTestFinished(() => emulator.close());
    await emulator.createLink({ amount: 15_000, reference: 'order-42' });
    await emulator.pay('order-42');
    await emulator.waitForDelivery({ reference: 'order-42' });
    const { headers, body } = received[0]!;
    const at = ['webhooks', 'payment.succeeded', 'post'];
    mustFit(pointerTo(...at, 'requestBody', ...JSON_BODY), JSON.parse(body));
    for (const [index, { name }] of webhooks['payment.succeeded']!.post.parameters.entries())
      mustFit(pointerTo(...at, 'parameters', String(index), 'schema'), headers[name.toLowerCase()]);
  });

  it('rejects what the contract excludes', () => {
    const link = pointerTo('components', 'schemas', 'PaymentLinkRequest');
    for (const wrong of [
      { amount: 1 },
      { amount: 1.5, reference: 'r' },
      { amount: 1, amount_min: 1, reference: 'r' },
      { amount_min: 1, amount_max: 2, reference: 'r' },
      { amount: 1, reference: 'r', singleUse: true },
    ])
      expect(() => mustFit(link, wrong)).toThrow(/PaymentLinkRequest/);
    const payment = { reference: 'r', type: 'payment', amount: 1, currency: 'XOF' };
    const schema = pointerTo('components', 'schemas', 'Payment');
    expect(() => mustFit(schema, { ...payment, status: 'paid' })).toThrow(/status/);
  });

  it('gives the types that openapi.test-d.ts compares with the client’s', async () => {
    const written = text.replaceAll('#/components/schemas/', '#/$defs/');
    const { schemas } = (parse(written) as { components: { schemas: Record<string, object> } })
      .components;
    const properties = Object.fromEntries(
      Object.keys(schemas).map((name) => [name, { $ref: `#/$defs/${name}` }]),
    );
    const types = await compile({ type: 'object', properties, $defs: schemas }, 'Schemas', {
      additionalProperties: false,
      bannerComment: '/** Written from docs/public/openapi.yaml by its test: `npm test -- -u`. */',
      format: false,
    });
    await expect(types).toMatchFileSnapshot('./openapi-types.ts');
  });
});
