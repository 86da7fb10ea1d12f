import { Option, type Command } from 'commander';
import { distance } from 'fastest-levenshtein';
import type { SignedDelivery } from '@paylink/testing';
import { adviceFor } from '../receiver/answer-advice.js';
import { post, type Answer } from '../receiver/post.js';
import { codeOf, isSuccess } from '../receiver/reply.js';
import {
  HEADER_OPTION,
  hideRequest,
  PAYMENT_SUCCEEDED,
  type TargetFlags,
} from '../receiver/target.js';
import { requireValidSecret, SECRET_OPTIONS, type SecretFlags } from '../settings/settings.js';
import { createCommand, type CommonFlags, type Invocation } from '../terminal/command.js';
import { EXIT, usageFailure } from '../terminal/failure.js';
import { durationOption, parseUrl, readBytes, showUrl, wholeNumber } from '../terminal/input.js';
import type { Output } from '../terminal/output.js';
import { text, type Printable } from '../terminal/safe-text.js';

interface Flags extends CommonFlags, SecretFlags, Partial<TargetFlags> {
  readonly print?: boolean;
  readonly body?: string;
  readonly reference?: string;
  readonly times: number;
  readonly timeout: number;
}

/** `paylink trigger`: sends a signed notification to a server. */
export const triggerCommand = (): Command =>
  createCommand<Flags>('trigger', {
    summary: 'send a signed notification to your server',
    description:
      'Sends a signed notification to your address, as the service does. A server that accepts ' +
      'it credits the order, so choose an order that it may credit.',
    argument: ['[event]', 'the event kind', PAYMENT_SUCCEEDED],
    options: [
      new Option('--to <url>', 'the address of the webhook').argParser(parseUrl),
      new Option('--print', 'print the signed notification without sending it'),
      new Option('--reference <reference>', 'the order that was paid'),
      new Option('--body <file>', 'the exact body; - is stdin').conflicts('reference'),
      new Option('--times <n>', 'send this many at the same time')
        .argParser(wholeNumber(1, 1_000))
        .default(1),
      durationOption('--timeout <time>', 'how long to wait for each reply', '30s'),
      HEADER_OPTION,
      ...SECRET_OPTIONS,
    ],
    examples: [
      'paylink trigger --to http://localhost:3000/webhooks/payments --reference order-42',
      'paylink trigger --to http://localhost:3000/webhooks/payments --reference order-42 --times 10',
      'paylink trigger --to http://localhost:3000/webhooks/payments --body notification.json',
      'paylink trigger --print --reference order-42',
    ],
    run: trigger,
  });

async function trigger(invocation: Invocation<Flags>): Promise<number> {
  const { flags, argument: event, output } = invocation;
  const { to, print, header, times, timeout } = flags;
  const secret = await requireValidSecret(flags, output);
  const delivery = await createDelivery(flags, event, secret);
  if (print === true) return printDelivery(delivery, output);
  if (to === undefined)
    throw usageFailure('no --to: pass the address of your webhook, or add --print');
  output.hide(delivery.signature);
  hideRequest({ ...flags, to }, output);
  output.line(text`POST ${output.paint.bold(showUrl(to))}`);
  const subject = flags.reference === undefined ? '' : ` for ${flags.reference}`;
  output.line(text`${event}${subject}, ${delivery.rawBody.length} bytes, signed`);
  output.line();
  const headers = { ...header, ...delivery.headers };
  const send = (): Promise<Answer | string> =>
    post(new Request(delivery.toRequest(to), { headers }), timeout);
  const answers = await Promise.all(Array.from({ length: times }, send));
  return conclude(answers, to, invocation);
}

/** Prints the headers, an empty line and the body. */
function printDelivery({ headers, rawBody, signature }: SignedDelivery, output: Output): number {
  const body = Buffer.from(rawBody).toString('utf8');
  for (const [name, value] of Object.entries(headers)) output.line(`${name}: ${value}`);
  output.line();
  output.line(body);
  output.document({ signature, bytes: rawBody.length, headers, body });
  return EXIT.ok;
}

/** The letters in which a misspelt event kind may differ. */
const MISSPELT = 4;

/** Signs the exact bytes of a file, or a body made from a reference. */
async function createDelivery(
  { body, reference }: Flags,
  type: string,
  secret: string,
): Promise<SignedDelivery> {
  const isMisspelt = distance(type.toLowerCase(), PAYMENT_SUCCEEDED) <= MISSPELT;
  if (isMisspelt && type !== PAYMENT_SUCCEEDED)
    throw usageFailure(
      `the service has no event kind ${type}`,
      `did you mean ${PAYMENT_SUCCEEDED}?`,
    );
  const { isEventKind } = await import('@paylink/core/internal');
  if (!isEventKind(type))
    throw usageFailure('the event must be an event kind', `for example ${PAYMENT_SUCCEEDED}`);
  const { signedDelivery } = await import('@paylink/testing');
  if (body !== undefined)
    return signedDelivery({ secret, type, rawBody: await readBytes(body, '--body') });
  if (reference === undefined)
    throw usageFailure('no --reference: pass an order that your server may credit');
  return signedDelivery({ secret, type, reference });
}

async function conclude(
  answers: readonly (Answer | string)[],
  to: URL,
  { flags: { reference }, argument: event, output }: Invocation<Flags>,
): Promise<number> {
  const accepted = answers.filter(isAccepted).length;
  const ok = accepted === answers.length;
  await output.table(answers.map((answer, index) => [index + 1, ...cellsOf(answer, output)]));
  output.line();
  const count = (ok ? output.paint.green : output.paint.red)(accepted);
  output.line(text`${count} of ${answers.length} accepted (2xx)`);
  const advice = answers
    .map((answer) => (typeof answer === 'string' ? undefined : adviceFor(answer, to)))
    .find((each) => each !== undefined);
  if (advice !== undefined) output.line(text`  ${advice}`);
  const deliveries = answers.map((answer, index) => ({
    number: index + 1,
    ...factsOf(answer),
  }));
  const subject = { url: showUrl(to), event, reference: reference ?? null };
  output.document({ ...subject, ok, accepted, deliveries });
  return ok ? EXIT.ok : EXIT.failed;
}

function isAccepted(answer: Answer | string): boolean {
  return typeof answer !== 'string' && isSuccess(answer.status);
}

/** Leaves the headers out, because they can hold cookies. */
function factsOf(answer: Answer | string): object {
  if (typeof answer === 'string') return { error: answer };
  const { status, durationMs, body } = answer;
  return { status, durationMs, body, code: codeOf(answer) };
}

function cellsOf(answer: Answer | string, output: Output): Printable[] {
  const { paint } = output;
  if (typeof answer === 'string') return [paint.red('none'), '', answer];
  const status = (isSuccess(answer.status) ? paint.green : paint.red)(answer.status);
  return [status, paint.dim(`${answer.durationMs} ms`), output.excerpt(answer.body)];
}
