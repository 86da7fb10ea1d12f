import { ADVICE_BY_CODE } from './reply-codes.js';
import { codeOf, describeStranger, explainRedirect, isSuccess, strangerIn } from './reply.js';
import type { Reply } from './reply.js';

/** Returns the next step after a webhook's reply to a genuine notification. */
export function adviceFor(reply: Reply, url: URL): string | undefined {
  const { status } = reply;
  const stranger = strangerIn(reply);
  const elsewhere = `If your webhook is Paylink, ${describeStranger(reply)}.`;
  if (isSuccess(status)) return stranger === undefined ? undefined : elsewhere;
  if (status >= 300 && status < 400) return `The server sends ${explainRedirect(reply, url)}.`;
  const known = codeOf(reply);
  if (known !== undefined && Object.hasOwn(ADVICE_BY_CODE, known)) return ADVICE_BY_CODE[known];
  if (status === 401 || status === 403)
    return stranger === undefined
      ? `${ADVICE_BY_CODE['invalid_signature']!} ${elsewhere}`
      : elsewhere;
  if (BY_STATUS[status] !== undefined) return BY_STATUS[status];
  if (stranger !== undefined) return elsewhere;
  return status > 500 ? FAILED : REJECTED;
}

/** The advice on a rejection that the reply does not explain. */
export const REJECTED = 'The server rejected the notification: read its log.';
const FAILED = 'The server failed: read its log.';
export const BY_STATUS: Readonly<Record<number, string>> = {
  404: "The path has no route: compare it with the webhook's path, and look for a prefix.",
  405: 'The path exists, but not for POST.',
  415: 'The server rejects the content type: accept raw bodies of every type.',
  429: 'A rate limiter in front of the webhook answered: try again later, and exempt the path.',
  500: FAILED,
};
