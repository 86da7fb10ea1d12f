/**
 * Judges one receiver in this process: the audit over a socket, and testOrders. The last line of
 * the output is a Verdict as JSON.
 */
import { createServer } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { getRequestListener } from '@hono/node-server';
import type { LambdaEvent } from '@paylink/lambda';
import type { Orders } from '@paylink/payments';
import { testOrders } from '@paylink/testing';
import { auditReceiver } from '../../packages/cli/src/audit/audit-receiver.js';

/** The faults that the judges named. */
export interface Verdict {
  readonly audit: readonly string[];
  readonly orders: readonly string[];
}

type NewOrder = Parameters<Parameters<typeof testOrders>[0]['createOrder']>[0];

interface Receiver {
  readonly orders: Orders;
  readonly createOrder: (order: NewOrder) => unknown;
  readonly effects?: (reference: string) => Promise<number>;
  readonly tenants?: readonly [string, string];
  /** A handler that its platform serves. */
  readonly POST?: (request: Request) => Promise<Response>;
  readonly handle?: (request: Request) => Promise<Response>;
  readonly handler?: (event: LambdaEvent) => Promise<{ statusCode: number; body: string }>;
}

const { RECEIVER = '', ORDER = '', PORT = '', WEBHOOK_SECRET: secret = '' } = process.env;
const loaded = (await import(pathToFileURL(RECEIVER).href)) as { readonly default?: object };
// A CommonJS module may have its exports in `default` alone.
const receiver = { ...loaded.default, ...loaded } as unknown as Receiver;
const { orders, createOrder, effects, tenants } = receiver;

const onFetch = receiver.POST ?? receiver.handle;
if (onFetch !== undefined) createServer(getRequestListener(onFetch)).listen(Number(PORT));
if (receiver.handler !== undefined) playFunctionUrl(receiver.handler);

await createOrder({
  ...{ reference: ORDER, amount: 1_500, currency: 'XOF', tenant: tenants?.[0] ?? null },
});
const report = await auditReceiver({
  url: `http://127.0.0.1:${PORT}/webhooks/payments`,
  ...{ secret, reference: ORDER, firstAnswer: 10_000 },
});
const audit = report.causes.map(({ title }) => title);
if (report.stopped !== undefined) audit.push(report.stopped.message);

const checks: { readonly title: string; readonly run: () => Promise<void> }[] = [];
const test = (title: string, run: () => Promise<void>): unknown => checks.push({ title, run });
test.skip = () => undefined;
testOrders({ orders, test, createOrder, effects, tenants });
const faults: string[] = [];
for (const { title, run } of checks)
  await run().catch((error: unknown) => faults.push(`${title}: ${(error as Error).message}`));

const verdict: Verdict = { audit, orders: faults };
process.stdout.write(`\n${JSON.stringify(verdict)}\n`, () => process.exit(0));

/** Plays a function URL of AWS, which itself refuses bodies over 6 MB and ends slow ones. */
function playFunctionUrl(handler: NonNullable<Receiver['handler']>): void {
  const limits = { requestTimeout: 3_000, connectionsCheckingInterval: 500 };
  createServer(limits, async (req, res) => {
    if (Number(req.headers['content-length']) > 6_000_000) return void res.writeHead(413).end();
    const body = await buffer(req).catch(() => undefined);
    if (body === undefined) return void res.destroy();
    const headers = Object.entries(req.headersDistinct).map(([name, all]) => [name, all!.join()]);
    const result = await handler({
      version: '2.0',
      rawPath: req.url,
      headers: Object.fromEntries(headers) as Record<string, string>,
      requestContext: { http: { method: req.method, path: req.url } },
      body: body.toString('base64'),
      isBase64Encoded: true,
    } as LambdaEvent);
    res.writeHead(result.statusCode, (result as { headers?: object }).headers as never);
    res.end(result.body);
  }).listen(Number(PORT));
}
