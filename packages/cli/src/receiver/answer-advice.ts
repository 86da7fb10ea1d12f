import { ADVICE_BY_CODE } from './reply-codes.js';
import { codeOf, explainRedirect, factsOf, strangerIn, type Reply } from './reply.js';

const STRANGER = 'If your webhook is Paylink, something else answered';

/** Returns the next step after a webhook's reply to a genuine notification. */
export function adviceFor(reply: Reply, url: URL): string | undefined {
  const { status } = reply;
  const stranger = strangerIn(reply);
  if (status >= 200 && status <= 299) {
    return stranger === undefined
      ? undefined
      : `${STRANGER} (${factsOf(reply)}): it looks like ${stranger}.`;
  }
  if (status >= 300 && status < 400) return `The answer is ${explainRedirect(reply, url)}.`;
  const known = codeOf(reply);
  if (known !== undefined && Object.hasOwn(ADVICE_BY_CODE, known)) return ADVICE_BY_CODE[known];
  if (status === 429)
    return (
      'A rate limiter in front of the webhook answered. The signature was not checked: ' +
      'try again later.'
    );
  if (stranger !== undefined && status !== 404 && status !== 405 && status !== 500) {
    return `${STRANGER} (${factsOf(reply)}): it looks like ${stranger}.`;
  }
  if (status === 401 || status === 403) {
    return (
      `${ADVICE_BY_CODE['invalid_signature']!} ${STRANGER} (${factsOf(reply)}), such as a ` +
      'login or a firewall.'
    );
  }
  if (status === 404) return "The path has no route: compare it with the webhook's path.";
  if (status === 405) return 'The path exists, but not for POST.';
  if (status === 415)
    return 'The server refuses the content type: accept the raw body of every type.';
  if (status >= 500) return 'The server failed: read its log.';
  return 'The server understood the notification, but refused it: read its log.';
}
