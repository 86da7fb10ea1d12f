import { randomUUID } from 'node:crypto';
import type { RequestListener } from 'node:http';
import type { DynamicModule, FactoryProvider, ModuleMetadata } from '@nestjs/common';
import { HttpAdapterHost, type AbstractHttpAdapter } from '@nestjs/core';
import type { EventSchemas, EventTypes, Handlers, NoEvents } from '@paylink/core';
import type { ReceiverOptions, SchemasOf } from '@paylink/core';
import { check, withinBounds } from '@paylink/core/internal';
import { copyBody, paymentWebhook, type NodeHost } from '@paylink/node';
import type { FastifyInstance } from 'fastify';

export type NestWebhook<Events extends EventSchemas> = ReceiverOptions<Events, NodeHost> & {
  /** The route's path. The global prefix and versions of Nest do not apply. */
  readonly url: string;
  readonly handlers: Handlers<Events, NodeHost>;
};

interface AsyncWebhook<Events extends EventSchemas> {
  readonly imports?: ModuleMetadata['imports'];
  readonly inject?: FactoryProvider['inject'];
  // oxlint-disable-next-line typescript/no-explicit-any -- as in Nest's own FactoryProvider
  readonly useFactory: (...injected: any[]) => NestWebhook<Events> | Promise<NestWebhook<Events>>;
}

const IN_TIME = { milliseconds: 30_000, reason: () => new Error('useFactory took over 30 s') };
/** Mounts a webhook in front of Nest's parsers, guards and filters, on Express and on Fastify. */
// oxlint-disable-next-line typescript/no-extraneous-class -- the form of a dynamic module
export class PaymentWebhookModule {
  /** Makes the webhook from injected providers. Nest does not start if an option is wrong. */
  static forRootAsync<const Events extends EventTypes = NoEvents>(
    webhook: AsyncWebhook<SchemasOf<Events>>,
  ): DynamicModule {
    const { imports = [], inject = [], useFactory } = webhook;
    const token = `PaymentWebhook ${randomUUID()}`; // Nest 10 would merge two modules that look alike.
    let isMade = false;
    const provider: FactoryProvider = {
      provide: token,
      inject: [HttpAdapterHost, ...inject],
      useFactory: async (host: HttpAdapterHost, ...injected: unknown[]) => {
        const made: unknown = await withinBounds((async () => useFactory(...injected))(), IN_TIME);
        check(Object(made) === made, 'useFactory', 'must return { url, secret, handlers }');
        const { url, handlers, ...options } = made as NestWebhook<SchemasOf<Events>>;
        check(url?.at(0) === '/', 'url', 'must be a path, such as /webhooks');
        const listener = paymentWebhook<Events>(options, handlers);
        withAdapter(host, (adapter) => mount(adapter, url, listener));
        isMade = true;
      },
    };
    const hooks = { onModuleInit: () => check(isMade, 'inject', 'has a request-scoped provider') };
    const guard = { provide: `${token} guard`, useValue: hooks };
    return { module: PaymentWebhookModule, imports, providers: [provider, guard] };
  }
}

function mount(adapter: AbstractHttpAdapter, url: string, listener: RequestListener): void {
  if (adapter.getType() !== 'fastify') return void adapter.post(url, listener);
  const fastify = adapter.getInstance<FastifyInstance>();
  void fastify.register(async (scope) => {
    scope.setChildLoggerFactory((...call) => {
      copyBody(call[3], fastify.initialConfig.bodyLimit); // Before all hooks of the found route.
      return fastify.childLoggerFactory(...call);
    });
    scope.post(url, () => undefined);
    scope.addHook('onRequest', ({ raw, params }, reply) =>
      listener(Object.assign(raw, { params }), reply.hijack().raw),
    );
  });
}

/** Calls `use` once Nest has its adapter, because Nest 10's own hooks run behind the parsers. */
function withAdapter(
  host: { httpAdapter?: AbstractHttpAdapter | undefined },
  use: (adapter: AbstractHttpAdapter) => void,
): void {
  if (host.httpAdapter) return use(host.httpAdapter);
  const others = Object.getOwnPropertyDescriptor(host, 'httpAdapter');
  const set = (adapter?: AbstractHttpAdapter): void => {
    delete host.httpAdapter;
    if (others !== undefined) Object.defineProperty(host, 'httpAdapter', others);
    host.httpAdapter = adapter;
    if (adapter) use(adapter);
  };
  Object.defineProperty(host, 'httpAdapter', { set, configurable: true });
}
