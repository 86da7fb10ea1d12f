import { expectTypeOf } from 'vitest';
import type { RouteContext, RouteHandler } from '../src/index.js';

/** What the type check of Next.js 15's build infers, and compares with what it gives; Next.js 16 assigns. */
type SecondArgument<Handler> = Handler extends (...args: [never, infer Second]) => unknown
  ? Second
  : never;
expectTypeOf<SecondArgument<RouteHandler>>().toEqualTypeOf<RouteContext>();
expectTypeOf<RouteHandler>().toExtend<
  (request: Request, context: { params: Promise<{ tenant: string }> }) => Promise<Response>
>();
expectTypeOf<RouteHandler>().toExtend<(request: Request) => Promise<Response>>();
