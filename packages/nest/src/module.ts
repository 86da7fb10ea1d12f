import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { DynamicModule, FactoryProvider, ModuleMetadata } from '@nestjs/common';
import { HttpAdapterHost, type AbstractHttpAdapter } from '@nestjs/core';
import { createReceiver, type ReceiverOptions, type SchemasOf } from '@paylink/core';
import type { EventSchemas, EventTypes, Handlers, NoEvents } from '@paylink/core';
import { check, withinBounds } from '@paylink/core/internal';
import { copyBody, respond, type NodeHost } from '@paylink/node';
import type { FastifyInstance } from 'fastify';
import { HINT } from './gate.js';

export type NestWebhook<Events extends EventSchemas> = ReceiverOptions<Events, NodeHost> & {
  /** The route's path. Nest's global prefix and API versions do not apply. */
  readonly url: string;
  readonly handlers: Handlers<Events, NodeHost>;
};

type AsyncWebhook<Events extends EventSchemas> = Pick<ModuleMetadata, 'imports'> &
  Pick<FactoryProvider<NestWebhook<Events>>, 'inject' | 'useFactory'>;
type Listener = (req: IncomingMessage, res: ServerResponse) => Promise<void>;

const IN_TIME = { milliseconds: 30_000, reason: () => new Error('useFactory took over 30 s') };

/** Mounts a webhook in front of Nest's guards, filters and (except in tests on Nest 10) parsers. */
// oxlint-disable-next-line typescript/no-extraneous-class -- the form of a dynamic module
export class PaymentWebhookModule {
  /** Creates the webhook from injected providers. Nest does not start if an option is invalid. */
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
        const made = await withinBounds((async () => useFactory(...injected))(), IN_TIME);
        check(Object(made) === made, 'useFactory', 'must return { url, secret, handlers }');
        const { url, handlers, ...options } = { __proto__: null, ...made }; // Not a polluted one.
        check(url?.at(0) === '/', 'url', 'must be a path, such as /webhooks');
        const receiver = createReceiver<SchemasOf<Events>, NodeHost>(options, handlers);
        const listener: Listener = (req, res) => respond(receiver, req, res, { req }, HINT);
        isMade = true;
        return mountOn(host, url, listener);
      },
    };
    const hooks = { onModuleInit: () => check(isMade, 'inject', 'has a request-scoped provider') };
    const guard = { provide: `${token} guard`, useValue: hooks };
    return { module: PaymentWebhookModule, imports, providers: [provider, guard] };
  }
}

/**
 * Mounts immediately, or in a test after `createNestApplication`. There Nest 10 has only a hook
 * behind its parsers, so a test needs `rawBody: true` on Express.
 */
function mountOn(host: Partial<HttpAdapterHost>, url: string, listener: Listener) {
  let isMounted = false;
  const onModuleInit = (): void => {
    if (!host.httpAdapter || isMounted) return;
    isMounted = true;
    mount(host.httpAdapter, url, listener);
  };
  onModuleInit();
  host.init$?.subscribe(onModuleInit);
  return { onModuleInit };
}

function mount(adapter: AbstractHttpAdapter, url: string, listener: Listener): void {
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
