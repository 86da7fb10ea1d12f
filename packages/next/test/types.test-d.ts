import { expectTypeOf } from 'vitest';
import type { paymentWebhook } from '../src/index.js';

type RouteHandler = ReturnType<typeof paymentWebhook>;
interface RouteContext {
  readonly params: Promise<Record<string, string | string[] | undefined>>;
}

/** The types that the build of Next.js 15 infers and compares. Next.js 16 assigns them. */
type SecondArgument<Handler> = Handler extends (...args: [never, infer Second]) => unknown
  ? Second
  : never;
expectTypeOf<SecondArgument<RouteHandler>>().toEqualTypeOf<RouteContext>();
expectTypeOf<RouteHandler>().toExtend<
  (request: Request, context: { params: Promise<{ tenant: string }> }) => Promise<Response>
>();
expectTypeOf<RouteHandler>().toExtend<(request: Request) => Promise<Response>>();
