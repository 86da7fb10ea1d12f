/** Tells a Paylink reply from a reply of a login page, a gateway or a catch-all page. */
import { showUrl } from '../terminal/input.js';
import { ADVICE_BY_CODE } from './reply-codes.js';

export interface Reply {
  readonly status: number;
  /** Headers by lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  /** The start of the body, which can hold anything. */
  readonly body: string;
}

export function isSuccess(status: number): boolean {
  return status >= 200 && status <= 299;
}

/** Returns the code of an error reply in Paylink's form. */
export function codeOf({ body }: Pick<Reply, 'body'>): string | undefined {
  return /^\{"error":"([a-z0-9_]{1,40})"\}$/.exec(body.trim())?.[1];
}

/** Returns the status with Paylink's code. Never shows other parts of a body. */
export function describeReply(reply: Reply): string {
  const code = codeOf(reply);
  return code === undefined ? factsOf(reply) : `${reply.status} (${code})`;
}

/** Checks the code too, because other servers also answer `{"error":"forbidden"}`. */
export function isPaylinkReply(reply: Pick<Reply, 'body'>): boolean {
  const code = codeOf(reply);
  return code === undefined
    ? reply.body.trim() === '{"received":true}'
    : Object.hasOwn(ADVICE_BY_CODE, code);
}

/** Headers that identify the server and hold no secrets. */
const FACTS = ['server', 'via', 'x-powered-by', 'www-authenticate', 'retry-after', 'allow'];
const LONGEST_FACT = 80;

/** Returns the status and the identifying headers: "403, text/html, server: nginx". */
function factsOf({ status, headers }: Reply): string {
  const { 'content-type': type = 'no content-type' } = headers;
  const named = FACTS.filter((name) => headers[name] !== undefined);
  const facts = [type, ...named.map((name) => `${name}: ${headers[name]!}`)].map((fact) =>
    // A server can send the signature back.
    fact.replace(/[0-9a-f]{64}/gi, '[hidden]'),
  );
  return [status, ...facts.map((fact) => fact.slice(0, LONGEST_FACT))].join(', ');
}

/** Returns a redirect's target. */
function redirectOf({ status, headers }: Reply, from: URL): URL | undefined {
  const { location } = headers;
  if (status < 300 || status > 399 || location === undefined) return undefined;
  return URL.canParse(location, from.href) ? new URL(location, from) : undefined;
}

const LOGIN = /log-?in|sign-?in|oauth|\bsso\b|\bauth\b/i;

/** Explains a redirect. Hides the query of its target, which can hold a token. */
export function explainRedirect(reply: Reply, from: URL): string {
  const target = redirectOf(reply, from);
  if (target === undefined) return 'a redirect without a target';
  return LOGIN.test(`${target.hostname}${target.pathname}`)
    ? `a redirect to ${showUrl(target)}: a login stands in front of the webhook. Exempt its path`
    : `a redirect to ${showUrl(target)}: the service does not follow redirects, so register ` +
        'that address if it is the webhook';
}

/** Says what sent a reply that is not Paylink's, if the reply shows it. */
export function strangerIn(reply: Reply): string | undefined {
  const { status, headers, body } = reply;
  if (isPaylinkReply(reply)) return undefined;
  if (status === 429) return 'a rate limiter';
  if (
    headers['cf-mitigated'] !== undefined ||
    /captcha|are you (a )?human|just a moment|challenge-platform/i.test(body)
  )
    return 'a bot challenge';
  if (/csrf|xsrf/i.test(body)) return 'a CSRF check';
  const scheme = headers['www-authenticate'];
  if (scheme !== undefined && !/^signature\b/i.test(scheme)) return 'a login (WWW-Authenticate)';
  if (!isPage(reply)) return undefined;
  if (/type=["']?password|log ?in|sign ?in/i.test(body)) return 'a login page';
  return status < 400 ? 'a page, perhaps from a catch-all route' : 'a page from a firewall';
}

/** Says that something else answered, and what the reply shows of it. */
export function describeStranger(reply: Reply): string {
  const look = strangerIn(reply);
  const guess = look === undefined ? 'such as a login or a firewall' : `it looks like ${look}`;
  return `something else answered (${factsOf(reply)}): ${guess}`;
}

function isPage({ headers, body }: Reply): boolean {
  return headers['content-type']?.includes('html') === true || /^\s*<(!doctype|html)/i.test(body);
}

/**
 * Compares two replies as a sender would. Two pages count as the same, because pages differ in
 * tokens and request ids.
 */
export function isSameReply(a: Reply, b: Reply): boolean {
  if (a.status !== b.status || a.headers['content-type'] !== b.headers['content-type'])
    return false;
  return a.body === b.body || (isPage(a) && isPage(b));
}
