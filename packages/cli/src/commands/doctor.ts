import { Command } from 'commander';
import { signedDelivery } from '@paylink/testing';
import { runs, type CommonFlags, type Run } from '../action.js';
import { adviceFor } from '../answer-advice.js';
import { isLocalHost, requireAllowedHost } from '../audit/local-host.js';
import { EXIT, usageFailure } from '../failure.js';
import { teach, USAGE_EXIT } from '../help.js';
import { collect, readHeaders, requireTarget, seconds, secretsOf, showUrl } from '../input.js';
import { explainNoAnswer, post, type Answer } from '../post.js';
import type { Output } from '../output.js';
import { text, type Printable } from '../safe-text.js';
import { addSecretOptions, requireSecret, SECRET_ENVIRONMENT, type SecretFlags } from '../settings.js';

interface Flags extends CommonFlags, SecretFlags {
  readonly to?: string;
  readonly header?: readonly string[];
  readonly timeout?: number;
  readonly allowHost?: readonly string[];
  readonly deliver?: string;
}

/** A kind that no receiver configures: a proven delivery of it is acknowledged and ignored. */
const KIND = 'paylink.doctor';

/** `paylink doctor`: what is wrong between the service and a running webhook. */
export function doctorCommand(): Command {
  const command = new Command('doctor')
    .summary('check a running webhook: route, secret, parsers, proxies, reply times')
    .description(
      'Looks at a running webhook from outside: is the route there, does it take POST, is the secret the same, does a parser or a proxy ' +
        `change the body, how long do replies take. It sends bad signatures, and signed events of the kind ${KIND}, which is not ` +
        'configured anywhere: a handler named `unrecognized` sees them. No order is credited unless you give --deliver.',
    )
    .option('--to <url>', 'the address of the webhook')
    .option('--deliver <reference>', 'send a payment.succeeded for this order too, to this machine only: the order is credited')
    .option('--header <header>', 'another header, "Name: value", for a tunnel or a gateway; can be repeated', collect)
    .option('--timeout <seconds>', 'how long to wait for each answer (default: 10)', seconds)
    .option('--allow-host <host>', 'a host that is not this machine and may be checked; can be repeated', collect);
  addSecretOptions(command);
  runs<Flags>(command, doctor);
  return teach(command, {
    examples: [
      ['paylink doctor --to http://localhost:3000/webhooks/payments --dotenv .env', 'with the secret of your own .env'],
      ['paylink doctor --to http://localhost:3000/webhooks/payments --deliver order-42', 'the store too: order-42 is credited'],
      ['paylink doctor --to https://shop.example/webhooks/payments --allow-host shop.example', 'through the proxy in front of it'],
    ],
    environment: [SECRET_ENVIRONMENT],
    exitCodes: [[0, 'every check passed'], [1, 'a check failed, or there was no answer'], USAGE_EXIT],
  });
}

interface Check {
  readonly name: string;
  /** `undefined` where it could not be checked. */
  readonly ok: boolean | undefined;
  readonly message: string;
}

async function doctor({ flags, output }: Run<Flags>): Promise<number> {
  const url = requireTarget(flags.to);
  requireAllowedHost(url, flags.allowHost);
  if (flags.deliver !== undefined && !isLocalHost(url.hostname)) {
    throw usageFailure('--deliver credits an order, so it only goes to this machine', 'leave it out to check this host');
  }
  const headers = readHeaders(flags.header);
  const secret = await requireSecret(flags, output);
  output.hide(...secretsOf(url, headers));
  output.line(text`Checking ${output.paint.bold(showUrl(url))}`);
  output.line(
    output.paint.dim(
      `It is sent bad signatures, and signed events of the kind ${KIND}: a handler named "unrecognized" sees those.`,
    ),
  );
  output.line();
  const checks = await examine({ url, secret, headers, timeout: flags.timeout ?? 10_000, deliver: flags.deliver });
  output.table(checks.map((check) => row(check, output)));
  const failed = checks.filter(({ ok }) => ok === false).length;
  output.line();
  output.line(
    failed === 0 ? output.paint.green('nothing wrong was found') : output.paint.red(`${failed} of ${checks.length} checks failed`),
  );
  output.document({ url: showUrl(url), ok: failed === 0, checks: checks.map(({ ok, ...rest }) => ({ ...rest, ok: ok ?? null })) });
  return failed === 0 ? EXIT.ok : EXIT.failed;
}

function row({ name, ok, message }: Check, { paint }: Output): Printable[] {
  return [ok === undefined ? paint.dim('–') : ok ? paint.green('ok') : paint.red('FAILED'), name, message];
}

interface Endpoint {
  readonly url: URL;
  readonly secret: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeout: number;
  readonly deliver: string | undefined;
}

/** The checks in the order in which one fault hides another; it ends where nothing more can be learnt. */
async function examine({ url, secret, headers, timeout, deliver }: Endpoint): Promise<Check[]> {
  const checks: Check[] = [];
  const check = (name: string, ok: boolean | undefined, message: string): boolean => {
    checks.push({ name, ok, message });
    return ok !== false;
  };
  const times: number[] = [];
  const send = async (rawBody: string, options: { type?: string; signature?: string } = {}): Promise<Answer | string> => {
    const delivery = signedDelivery({ secret, type: options.type ?? KIND, rawBody });
    const signature = options.signature === undefined ? {} : { 'x-service-signature': options.signature };
    const request = new Request(delivery.toRequest(url), { headers: { ...headers, ...delivery.headers, ...signature } });
    const answer = await post(request, timeout).catch((error: unknown) => explainNoAnswer(error, url));
    if (typeof answer !== 'string') times.push(answer.durationMs);
    return answer;
  };
  const answersToGet = async (): Promise<boolean> => {
    const answer = await post(new Request(url, { headers }), timeout).catch(() => undefined);
    return answer !== undefined && answer.status !== 404;
  };
  const compact = JSON.stringify({ reference: 'paylink-doctor' });

  const forged = await send(compact, { signature: '0'.repeat(64) });
  if (typeof forged === 'string') return (check('answers', false, forged), checks);
  const { status } = forged;
  if (status >= 300 && status < 400)
    return (check('route', false, `answers ${status}, a redirect: the service does not follow it`), checks);
  if (status === 404 && (await answersToGet())) {
    check('route', true, 'the path is there');
    return (check('method', false, 'answers 404 to POST and not to GET: mount the webhook for POST'), checks);
  }
  if (status === 404) return (check('route', false, 'answers 404: compare the path with where the webhook is mounted'), checks);
  check('route', true, 'the path is there');
  if (status === 405) return (check('method', false, 'answers 405 to POST: mount the webhook for POST'), checks);
  check('method', true, 'POST is taken');
  if (consumed(forged)) return (check('parser', false, PARSER), checks);
  if (status >= 500) return (check('bad signature', false, `answers ${status}: its log says why${codeOf(forged)}`), checks);
  check(
    'bad signature',
    status >= 400,
    status >= 400 ? `is refused (${status})` : `is accepted (${status}): the webhook does not verify`,
  );

  const signed = await send(compact);
  if (typeof signed === 'string') return (check('secret', false, signed), checks);
  if (consumed(signed)) return (check('parser', false, PARSER), checks);
  const spaced = await send(`{ "reference" : "paylink-doctor" }\n`);
  if (typeof spaced === 'string') return (check('body', false, spaced), checks);
  const takesSpaced = isSuccess(spaced.status);
  if (isSuccess(signed.status)) {
    check('secret', true, 'is the same on both sides');
    check('body', takesSpaced, takesSpaced ? 'reaches the webhook as it was sent' : CHANGED);
  } else if (takesSpaced && signed.status >= 400 && signed.status <= 499) {
    check('secret', true, 'is the same on both sides');
    check('body', false, CHANGED);
  } else if (isRefusedAs(signed.status, status)) {
    check('secret', false, 'a signed event is refused: is it the same secret, and does anything change the body on its way?');
  } else {
    const seen = `a signed event of the kind ${KIND} is answered ${signed.status}${codeOf(signed)}`;
    check('signed event', false, `${seen}: an unknown kind is to be acknowledged with 200. ${adviceFor(signed.status)!}`);
  }

  const slowest = Math.max(...times);
  check('reply times', slowest < 5_000, `at most ${slowest} ms${slowest < 5_000 ? '' : ': the sender may give up before'}`);
  if (deliver === undefined)
    check('store', undefined, 'not checked: --deliver <reference> sends a payment.succeeded, which credits that order');
  else checkStore(check, await send(JSON.stringify({ reference: deliver }), { type: 'payment.succeeded' }));
  return checks;
}

const PARSER =
  'a body parser reads the body before the webhook (body_consumed): mount the webhook before it. The log names the line';
const CHANGED =
  'a body with spaces in it is refused and a compact one is not, or the reverse: a parser or a proxy writes the JSON again on its way';

function checkStore(check: (name: string, ok: boolean, message: string) => boolean, answer: Answer | string): void {
  if (typeof answer === 'string') return void check('store', false, answer);
  if (isSuccess(answer.status)) return void check('store', true, 'payment.succeeded is acknowledged');
  const hint = answer.body.includes('store_unavailable')
    ? ': is the database up, and was the store migrated (store.migrate())?'
    : '';
  check('store', false, `payment.succeeded is answered ${answer.status}${codeOf(answer)}${hint}`);
}

/** Statuses that say what is wrong, whatever the signature is. */
const OF_THE_REQUEST: readonly number[] = [408, 413, 415, 429];

/** Whether a signed event is refused for its signature: many receivers answer 400 to a bad one. */
function isRefusedAs(status: number, forged: number): boolean {
  return status === 401 || status === 403 || (status === forged && !OF_THE_REQUEST.includes(status));
}

function isSuccess(status: number): boolean {
  return status >= 200 && status <= 299;
}

function consumed({ status, body }: Answer): boolean {
  return status === 500 && body.includes('body_consumed');
}

/** The code of a reply of Paylink, and nothing else of a reply. */
function codeOf({ body }: Answer): string {
  const code = /^\{"error":"([a-z_]{1,40})"\}$/.exec(body.trim())?.[1];
  return code === undefined ? '' : ` (${code})`;
}
