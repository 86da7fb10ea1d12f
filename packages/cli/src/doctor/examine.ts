/** Checks a running webhook from outside. A problem never hides an earlier one. */
import { createHmac, randomUUID } from 'node:crypto';
import { adviceFor, BY_STATUS } from '../receiver/answer-advice.js';
import { post, type Answer } from '../receiver/post.js';
import { ADVICE_BY_CODE } from '../receiver/reply-codes.js';
import {
  codeOf,
  describeReply,
  describeStranger,
  explainRedirect,
  isPaylinkReply,
  isSameReply,
  isSuccess,
  strangerIn,
} from '../receiver/reply.js';
import { PAYMENT_SUCCEEDED, type TargetFlags } from '../receiver/target.js';

/**
 * A kind that no receiver configures: receivers acknowledge and ignore a verified delivery of it.
 */
export const KIND = 'paylink.doctor';
const TIMEOUT = 10_000;

export interface Check {
  readonly name: string;
  /** `undefined` if the check did not run, or if its result is neither a pass nor a fault. */
  readonly ok: boolean | undefined;
  readonly message: string;
}

const passed = (name: string, message: string): Check => ({ name, ok: true, message });
const failed = (name: string, message: string): Check => ({ name, ok: false, message });

/** Sends a body. Returns the answer, or the reason if none came. */
type Send = (rawBody: string, event?: string, signature?: string) => Promise<Answer | string>;

const BODY = JSON.stringify({ reference: 'paylink-doctor' });
const SPACED = '{ "reference" : "paylink-doctor" }\n';

const LIMITED = failed('rate limit', `answers 429. ${BY_STATUS[429]!}`);
const PARSER = failed('parser', ADVICE_BY_CODE['body_consumed']!);
const SAME_SECRET = passed(
  'secret',
  'your server uses the same secret as this command. Compare it with the secret in the portal',
);
const OTHER_SECRET = failed(
  'secret',
  'a signed event is rejected: compare the secrets, and look for a parser or proxy that changes ' +
    'the body',
);
const SAME_BODY = passed('body', 'reaches the webhook unchanged');
const OTHER_BODY = failed(
  'body',
  'some spellings of the same JSON are rejected and others accepted: a parser or a proxy ' +
    'rewrites the JSON',
);

export async function examine(
  { to, header }: TargetFlags,
  secret: string,
  deliver: string | undefined,
): Promise<Check[]> {
  const { signedDelivery } = await import('@paylink/testing');
  const send: Send = (rawBody, type = KIND, signature) => {
    const delivery = signedDelivery({ secret, type, rawBody });
    const forged = signature === undefined ? {} : { 'x-service-signature': signature };
    const headers = { ...header, ...delivery.headers, ...forged };
    return post(new Request(delivery.toRequest(to), { headers }), TIMEOUT);
  };
  // It derives from the secret, so that the receiver recognises the probe and skips the diagnosis.
  const wrong = createHmac('sha256', secret).update(`${BODY}\npaylink doctor probe`).digest('hex');
  const forged = await send(BODY, KIND, wrong);
  if (typeof forged === 'string') return [failed('answers', forged)];
  const answersGet = async (): Promise<boolean> => {
    const answer = await post(new Request(to, { headers: { ...header } }), TIMEOUT);
    return typeof answer !== 'string' && answer.status !== 404;
  };
  const route = await checkRoute(forged, to, answersGet);
  if (!route.every(({ ok }) => ok)) return route;
  const found = [...route, checkForgery(forged, to)];
  if (found.at(-1)!.ok === false) return found;
  const signed = [...found, ...(await checkSigned(forged, to, send))];
  if (signed.some(({ name }) => IN_FRONT.includes(name))) return signed;
  const unknown = signed.every(({ ok }) => ok) ? [await checkUnknownOrder(forged, send)] : [];
  return [...signed, ...unknown, await checkCredit(deliver, to, send)];
}

/** The checks that name something in front of the webhook. Further checks could not tell more. */
const IN_FRONT = ['rate limit', 'parser', 'webhook'];

/** Looks for a webhook for POST by the reply to a bad signature. */
async function checkRoute(
  forged: Answer,
  url: URL,
  answersGet: () => Promise<boolean>,
): Promise<Check[]> {
  const { status } = forged;
  const path = passed('route', 'the path exists');
  if (status >= 300 && status < 400)
    return [failed('route', `answers ${status}, ${explainRedirect(forged, url)}`)];
  if (status === 429) return [LIMITED];
  if (status === 405)
    return [path, failed('method', 'answers 405 to POST: mount the webhook for POST')];
  if (status !== 404) return [path, passed('method', 'POST is accepted')];
  return (await answersGet())
    ? [path, failed('method', 'answers 404 to POST but not to GET: mount the webhook for POST')]
    : [failed('route', 'answers 404: compare the path, and look for a router prefix')];
}

function checkForgery(forged: Answer, url: URL): Check {
  const { status } = forged;
  const said = describeReply(forged);
  const isOurs = isPaylinkReply(forged);
  if (codeOf(forged) === 'body_consumed') return PARSER;
  if (isSuccess(status))
    return failed(
      'bad signature',
      strangerIn(forged) === undefined
        ? `is accepted (${status}): the webhook does not verify` +
            (isOurs ? '' : `, or ${describeStranger(forged)}`)
        : `is accepted: ${describeStranger(forged)}`,
    );
  if (status >= 500 || codeOf(forged) === 'unsupported_encoding')
    return failed('bad signature', `answers ${said}: ${adviceFor(forged, url)!}`);
  return passed(
    'bad signature',
    isOurs
      ? `is rejected (${status})`
      : `is rejected (${status}), but not in Paylink's form (${said})`,
  );
}

/** Compares the reply to a signed event with the reply to a bad signature. */
async function checkSigned(forged: Answer, url: URL, send: Send): Promise<Check[]> {
  const signed = await send(BODY);
  if (typeof signed === 'string') return [failed('secret', signed)];
  if (signed.status === 429) return [LIMITED];
  if (codeOf(signed) === 'body_consumed') return [PARSER];
  const spaced = await send(SPACED);
  if (typeof spaced === 'string') return [failed('body', spaced)];
  const accepted = [signed, spaced].filter(({ status }) => isSuccess(status));
  if (accepted.length === 2) return [SAME_SECRET, SAME_BODY];
  if (accepted.length === 1 && signed.status < 500) return [SAME_SECRET, OTHER_BODY];
  const { status } = signed;
  const isOfRequest = OF_THE_REQUEST.includes(status);
  if (!isPaylinkReply(forged) && isSameReply(forged, signed)) {
    if (strangerIn(forged) !== undefined || !isOfRequest)
      return [
        failed(
          'webhook',
          "a good and a bad signature get the same reply, which is not Paylink's: " +
            `${describeStranger(forged)}. Exempt the webhook's path. If you verify by hand, ` +
            'compare the secrets.',
        ),
      ];
  }
  // Many receivers answer a bad signature with 400.
  if (status === 401 || status === 403 || (status === forged.status && !isOfRequest))
    return [OTHER_SECRET];
  const seen = `a signed event of the kind ${KIND} gets ${describeReply(signed)}`;
  const fix = `acknowledge unknown event kinds with 200. ${adviceFor(signed, url)!}`;
  return [failed('signed event', `${seen}: ${fix}`)];
}

/** Statuses that report a faulty request, whatever its signature. */
const OF_THE_REQUEST: readonly number[] = [408, 413, 415];

/** A service that gets a 2xx for a payment that was not credited never sends it again. */
async function checkUnknownOrder(forged: Answer, send: Send): Promise<Check> {
  const name = 'unknown order';
  const answer = await send(JSON.stringify({ reference: randomUUID() }), PAYMENT_SUCCEEDED);
  if (typeof answer === 'string') return failed(name, answer);
  if (answer.status === 429) return LIMITED;
  const said = describeReply(answer);
  if (!isSuccess(answer.status)) return passed(name, `is not acknowledged: ${said}`);
  if (isPaylinkReply(forged) && (codeOf(answer) !== undefined || !isPaylinkReply(answer)))
    return failed(
      name,
      `is acknowledged: ${said}. A proxy turns errors into ${answer.status}, so the service never ` +
        "sends a failed notification again. Pass on the webhook's status",
    );
  const message = `is acknowledged (${answer.status}). Paylink's payments.receive answers 503`;
  return { name, ok: undefined, message };
}

async function checkCredit(deliver: string | undefined, url: URL, send: Send): Promise<Check> {
  const message =
    'not checked: --deliver <reference> sends a payment.succeeded, which may credit that order';
  if (deliver === undefined) return { name: 'credit', ok: undefined, message };
  const answer = await send(JSON.stringify({ reference: deliver }), PAYMENT_SUCCEEDED);
  if (typeof answer === 'string') return failed('credit', answer);
  if (isSuccess(answer.status)) return passed('credit', 'payment.succeeded is acknowledged');
  const seen = `payment.succeeded gets ${describeReply(answer)}`;
  return failed('credit', `${seen}: ${adviceFor(answer, url)!}`);
}
