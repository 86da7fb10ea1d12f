import { ConfigurationError, createReceiver, WebhookError } from '@paylink/core';
import type { Delivery, EventSchemas, Handlers, Receiver, ReceiverOptions } from '@paylink/core';

/**
 * Makes a receiver. If the secret is missing or invalid, returns a receiver that answers every
 * request with 500 `misconfigured` and logs the reason.
 *
 * @throws ConfigurationError for every other mistake
 */
export function receiverOrMissingSecret<
  Events extends EventSchemas,
  Host extends { readonly request?: unknown; readonly req?: unknown },
>(options: ReceiverOptions<Events, Host>, handlers: Handlers<Events, Host>): Receiver<Host> {
  try {
    return createReceiver(options, handlers);
  } catch (error) {
    if (!(error instanceof ConfigurationError) || !error.option.startsWith('secret')) throw error;
    const secret = crypto.getRandomValues(new Uint8Array(32)); // no delivery reaches its check
    const receiver = createReceiver<Events, Host>({ ...options, secret }, handlers);
    return {
      async receive(_delivery, host) {
        const route = pathOf((host.request ?? host.req) as { readonly url?: string });
        const problem = error.message.replace(/[^.?]$/, '$&.');
        const message = `${problem} The route ${route} reads the secret`;
        return receiver.receive(misconfigured(message), host);
      },
    };
  }
}

/** Makes a delivery that fails at its first header, so that the receiver reports it as usual. */
function misconfigured(message: string): Delivery {
  const fail = (): never => {
    throw new WebhookError('misconfigured', { message });
  };
  return { header: fail, body: async () => fail() };
}

function pathOf({ url = '' }: { readonly url?: string }): string {
  return URL.canParse(url, 'http://localhost') ? new URL(url, 'http://localhost').pathname : '';
}
