import { adviceFor } from '../receiver/answer-advice.js';
import { isLocalHost } from '../receiver/local-host.js';
import { showUrl } from '../terminal/input.js';
import type { Answer } from '../receiver/post.js';
import {
  codeOf,
  explainRedirect,
  factsOf,
  isPaylinkReply,
  isSameReply,
  strangerIn,
} from '../receiver/reply.js';
import { COMPACT, KIND, PRETTY, Probes, SPACED, type Endpoint, type Outcome } from './probes.js';

export { KIND } from './probes.js';

export interface Check {
  readonly name: string;
  /** `undefined` if the check did not run. */
  readonly ok: boolean | undefined;
  readonly message: string;
}

type AddCheck = (name: string, ok: boolean | undefined, message: string) => void;

/**
 * Runs the checks so that a fault never hides an earlier one. Stops if further checks cannot tell
 * more.
 */
export async function examine(endpoint: Endpoint, deliver: string | undefined): Promise<Check[]> {
  const checks: Check[] = [];
  const check: AddCheck = (name, ok, message) => void checks.push({ name, ok, message });
  const probes = new Probes(endpoint);

  const forged = await probes.forged();
  if (typeof forged === 'string') return (check('answers', false, forged), checks);
  if (!(await findsRoute(forged, { probes, endpoint, check }))) return checks;
  if (isSuccess(forged.status)) return (check('bad signature', false, acceptedAs(forged)), checks);
  check('bad signature', true, refusedAs(forged));

  const signed = await probes.genuine(COMPACT);
  if (typeof signed === 'string') return (check('secret', false, signed), checks);
  if (isLimited(signed)) return (check('rate limit', false, LIMITED), checks);
  if (codeOf(signed) === 'body_consumed') return (check('parser', false, PARSER), checks);
  if (!(await checkSecretAndBody({ forged, signed }, { probes, endpoint, check }))) return checks;

  const slowest = Math.max(...probes.times);
  check(
    'reply times',
    slowest < 5_000,
    `the slowest reply took ${slowest} ` +
      `ms${slowest < 5_000 ? '' : ', and the sender may give up earlier'}`,
  );
  check('outside', undefined, isLocalHost(endpoint.url.hostname) ? FROM_HERE : FROM_INSIDE);
  if (deliver === undefined)
    check(
      'credit',
      undefined,
      'not checked: --deliver <reference> sends a payment.succeeded, which credits that order',
    );
  else
    checkCredit(
      check,
      await probes.genuine(JSON.stringify({ reference: deliver }), 'payment.succeeded'),
      endpoint.url,
    );
  return checks;
}

interface Bench {
  readonly probes: Probes;
  readonly endpoint: Endpoint;
  readonly check: AddCheck;
}

/** Returns true if the reply to a bad signature shows a webhook for POST. */
async function findsRoute(forged: Answer, { probes, endpoint, check }: Bench): Promise<boolean> {
  const { status } = forged;
  const { url } = endpoint;
  if (status >= 300 && status < 400) {
    check('route', false, `answers ${status}, ${explainRedirect(forged, url)}`);
    return false;
  }
  if (status === 404) {
    const elsewhere = await findElsewhere(probes, url);
    if (elsewhere !== undefined) {
      check(
        'route',
        false,
        `answers 404, but a Paylink webhook is at ${showUrl(elsewhere)}: the app prefixes ` +
          'its routes',
      );
    } else if (await probes.answersToGet()) {
      check('route', true, 'the path exists');
      check('method', false, 'answers 404 to POST but not to GET: mount the webhook for POST');
    } else {
      check('route', false, "answers 404: compare the path with the webhook's route");
    }
    return false;
  }
  if (isLimited(forged)) {
    check('rate limit', false, LIMITED);
    return false;
  }
  check('route', true, 'the path exists');
  if (status === 405) {
    check('method', false, 'answers 405 to POST: mount the webhook for POST');
    return false;
  }
  check('method', true, 'POST is accepted');
  if (codeOf(forged) === 'body_consumed') {
    check('parser', false, PARSER);
    return false;
  }
  if (status >= 500 || codeOf(forged) === 'unsupported_encoding') {
    const look = status === 500 ? undefined : strangerIn(forged);
    const why =
      look === undefined
        ? adviceFor(forged, url)!
        : `something else answers, and it looks like ${look}`;
    check('bad signature', false, `answers ${described(forged)}: ${why}`);
    return false;
  }
  return true;
}

/** Prefixes that frameworks and gateways put before all routes. */
const PREFIXES = ['/api', '/v1', '/api/v1', '/prod'];

/** Returns the path at which Paylink answers if the given path has a wrong prefix. */
async function findElsewhere(probes: Probes, url: URL): Promise<URL | undefined> {
  const { pathname } = url;
  const less = PREFIXES.filter((prefix) => pathname.startsWith(`${prefix}/`)).map((prefix) =>
    pathname.slice(prefix.length),
  );
  for (const path of [...PREFIXES.map((prefix) => `${prefix}${pathname}`), ...less]) {
    const other = new URL(url);
    other.pathname = path;
    const answer = await probes.forged(other);
    if (typeof answer !== 'string' && codeOf(answer) === 'invalid_signature') return other;
  }
  return undefined;
}

/** Names another program that answers valid and invalid signatures alike. */
function strangerInFront(forged: Answer, signed: Answer): string | undefined {
  if (isPaylinkReply(forged) || !isSameReply(forged, signed)) return undefined;
  const look = strangerIn(forged);
  if (look === undefined && OF_THE_REQUEST.includes(forged.status)) return undefined;
  const guess = look === undefined ? '' : ` It looks like ${look}.`;
  return (
    `a good and a bad signature get the same reply, which is not Paylink's ` +
    `(${factsOf(forged)}). Something else answers, such as a login, a CSRF check or a ` +
    `firewall.${guess} Exempt the path of the webhook. If you verify by hand, compare the secrets.`
  );
}

function acceptedAs(forged: Answer): string {
  const { status } = forged;
  const look = strangerIn(forged);
  if (look !== undefined)
    return `is accepted (${factsOf(forged)}): something else answers, and it looks like ${look}`;
  const form = isPaylinkReply(forged) ? '' : `, or something else answers (${factsOf(forged)})`;
  return `is accepted (${status}): the webhook does not verify${form}`;
}

function refusedAs(forged: Answer): string {
  const { status } = forged;
  return isPaylinkReply(forged)
    ? `is refused (${status})`
    : `is refused (${status}), but not in Paylink's form (${factsOf(forged)})`;
}

/** Returns true if the checks can continue. */
async function checkSecretAndBody(
  { forged, signed }: { readonly forged: Answer; readonly signed: Answer },
  { probes, endpoint, check }: Bench,
): Promise<boolean> {
  const spaced = await probes.genuine(SPACED);
  if (typeof spaced === 'string') {
    check('body', false, spaced);
    return false;
  }
  const stranger = strangerInFront(forged, signed);
  if (isSuccess(signed.status)) {
    const takesSpaced = isSuccess(spaced.status);
    check('secret', true, 'your server has the secret of this command. Compare the portal by hand');
    check('body', takesSpaced, takesSpaced ? 'reaches the webhook unchanged' : CHANGED);
  } else if (
    signed.status >= 400 &&
    signed.status <= 499 &&
    (isSuccess(spaced.status) || (await takesPretty(probes)))
  ) {
    check('secret', true, 'your server has the secret of this command. Compare the portal by hand');
    check('body', false, CHANGED);
  } else if (stranger !== undefined) {
    check('webhook', false, stranger);
    return false;
  } else if (isRefusedAs(signed, forged)) {
    check(
      'secret',
      false,
      'a signed event is refused: compare the secrets, and look for a parser or proxy ' +
        'that changes the body',
    );
  } else {
    const seen = `a signed event of the kind ${KIND} gets ${described(signed)}`;
    const advice = adviceFor(signed, endpoint.url)!;
    check('signed event', false, `${seen}: acknowledge unknown event kinds with 200. ${advice}`);
  }
  return true;
}

async function takesPretty(probes: Probes): Promise<boolean> {
  for (const body of PRETTY) {
    const answer = await probes.genuine(body);
    if (typeof answer === 'string' || isLimited(answer)) return false;
    if (isSuccess(answer.status)) return true;
  }
  return false;
}

const LIMITED =
  'answers 429: a rate limiter in front of the webhook, so the signature was not checked. ' +
  'Try again later, and exempt the path';
const PARSER =
  'a body parser reads the body before the webhook (body_consumed): mount the webhook ' +
  'before it. The log names the line';
const CHANGED =
  'some spellings of one JSON are refused and others accepted: a parser or a proxy ' +
  'rewrites the JSON';
const FROM_HERE =
  'not checked: this machine asked itself. Proxies, tunnels and firewalls on the ' +
  "service's way stay untested";
const FROM_INSIDE =
  'not checked: a firewall may let this machine in but keep the service out. Run doctor ' +
  'from another network too';

function checkCredit(check: AddCheck, answer: Outcome, url: URL): void {
  if (typeof answer === 'string') return check('credit', false, answer);
  if (isSuccess(answer.status)) return check('credit', true, 'payment.succeeded is acknowledged');
  check('credit', false, `payment.succeeded gets ${described(answer)}: ${adviceFor(answer, url)!}`);
}

/** Statuses that report a faulty request, whatever its signature. */
const OF_THE_REQUEST: readonly number[] = [408, 413, 415];

/**
 * Returns true if the receiver rejected the signature of a signed event. Many receivers answer a
 * bad signature with 400.
 */
function isRefusedAs(signed: Answer, forged: Answer): boolean {
  const { status } = signed;
  return (
    status === 401 ||
    status === 403 ||
    (status === forged.status && !OF_THE_REQUEST.includes(status))
  );
}

function isSuccess(status: number): boolean {
  return status >= 200 && status <= 299;
}

function isLimited({ status }: Answer): boolean {
  return status === 429;
}

/** Returns the status with Paylink's code. Never shows other parts of a body. */
function described(answer: Answer): string {
  const code = codeOf(answer);
  return code === undefined ? factsOf(answer) : `${answer.status} (${code})`;
}
