/** What is told of a failure: to the hook always, to the log where the merchant may have something to mend. */
import { isProduction } from './environment.js';
import { ConfigurationError, isWebhookError, type WebhookError } from './errors.js';
import { describeCause, HandlerError } from './host-error.js';
import type { Logger } from './logger.js';
import { report, type Facts, type ObserveHook } from './observe.js';
import { statusOf } from './reply.js';

/** Reports a failure, and logs it where the merchant may have something to mend. */
export type Tell = (error: unknown, facts: Facts, byHandler: boolean) => void;

export function createTell(observe: ObserveHook | undefined, logger: Logger): Tell {
  const told = new Set<string>();
  return (error, facts, byHandler) => {
    const { code, status } = isWebhookError(error) ? error : { code: 'handler_failed', status: 500 };
    facts.code = code;
    report(observe, facts, status > 499 || byHandler ? 'failed' : 'rejected');
    // Koa and Express print the stack of an error, and that has no cause in it.
    if (error instanceof HandlerError) logger.error(`[paylink] 500 handler_failed: ${describeCause(error)}`);
    // A handler's own code is the merchant's business: it was thrown on purpose.
    if (!isWebhookError(error) || statusOf(code) === undefined) return;
    const line = `[paylink] ${status} ${code}: ${error.message}${causeOf(error)}`;
    if (status > 499) logger.error(line);
    else if (!byHandler && !isProduction() && !told.has(line)) {
      // A stranger can be refused without end: in production that is silent, elsewhere each cause is told once.
      told.add(line);
      logger.warn(line);
    }
  };
}

function causeOf({ code, cause }: WebhookError): string {
  if (!(cause instanceof Error)) return '';
  // What a secret's function throws can quote the secret; our own words never do.
  const quiet = code === 'secret_unavailable' && !(cause instanceof ConfigurationError);
  return quiet ? ` (${cause.name})` : ` (${cause.name}: ${cause.message})`;
}
