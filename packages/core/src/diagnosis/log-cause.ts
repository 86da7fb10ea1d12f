/** The diagnosis that a receiver starts by itself outside production. */
import { isProduction } from '../environment.js';
import type { Logger } from '../logger.js';
import type { Refused } from './explain.js';
import { search } from './search.js';

/** Notifications are shorter. A stranger's longer body is not worth the work. */
const BODY = 4_096;
/** Bytes to write and hash. */
const WORK = 1_000_000;

/** Logs the causes. Logs each set of causes once. */
export async function logCause(refused: Refused, logger: Logger, logged: Set<string>) {
  // After the reply, which is being written.
  await new Promise((resolve) => setTimeout(resolve, 0));
  const { rawBody = new Uint8Array(), signature, secret = 'not read' } = refused;
  const isRead = refused.rawBody !== undefined;
  const limits = { body: isRead ? BODY : -1, work: WORK };
  const { matches, causes, message } = await search({ rawBody, signature, secret }, limits);
  // A signature alone can be wrong in many ways at once: the first one stands for all.
  const found = (isRead ? causes : causes.slice(0, 1)).map(({ code }) => code).join();
  if (matches || logged.has(found) || isProduction()) return;
  logged.add(found);
  const length = isRead ? ` of ${rawBody.length} bytes` : '';
  const line = `[paylink] the signature of a delivery${length} does not match. ${message}`;
  logger.warn(line.replaceAll('\n', ' '), { code: 'invalid_signature', status: 401 });
}
