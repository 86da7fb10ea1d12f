import { ConfigurationError, createReceiver, WebhookError } from '@paylink/core';

/**
 * Makes a receiver. If the secret is missing or invalid, the receiver answers every request with
 * 500 `misconfigured` and logs the reason, because `next build` imports the route without a secret.
 *
 * @throws ConfigurationError for every other mistake
 */
export const receiverOrMissingSecret: typeof createReceiver = (options, handlers) => {
  try {
    return createReceiver(options, handlers);
  } catch (error) {
    if (!(error instanceof ConfigurationError) || !error.option.startsWith('secret')) throw error;
    const secret = crypto.getRandomValues(new Uint8Array(32)); // no delivery reaches its check
    const receiver = createReceiver({ ...options, secret }, handlers);
    const fail = (): never => {
      const message = `this route cannot verify (${error.message})`;
      throw new WebhookError('misconfigured', { message });
    };
    // Fails at its first header, so that the receiver reports it as usual.
    return {
      receive: (_, host) => receiver.receive({ header: fail, body: async () => fail() }, host),
    };
  }
};
