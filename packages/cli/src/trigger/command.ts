import { Command, Option } from 'commander';
import { runs, type CommonFlags, type Run } from '../terminal/action.js';
import { adviceFor } from '../receiver/answer-advice.js';
import { refuseMisspelt } from './event-spelling.js';
import { EXIT } from '../terminal/failure.js';
import { teach, USAGE_EXIT } from '../terminal/help.js';
import {
  collect,
  readHeaders,
  requireTarget,
  seconds,
  secretsOf,
  showUrl,
  wholeNumber,
} from '../terminal/input.js';
import {
  makeNotification,
  PAYMENT_SUCCEEDED,
  type NotificationFlags,
} from '../receiver/notification.js';
import type { Output } from '../terminal/output.js';
import { explainNoAnswer, post, type Answer } from '../receiver/post.js';
import { codeOf, redirectOf } from '../receiver/reply.js';
import { text, type Printable } from '../terminal/safe-text.js';
import {
  addSecretOptions,
  requireSecret,
  SECRET_ENVIRONMENT,
  type SecretFlags,
} from '../settings/settings.js';

interface Flags extends CommonFlags, SecretFlags, NotificationFlags {
  readonly to?: string;
  readonly times: number;
  readonly concurrent?: boolean;
  readonly header?: readonly string[];
  readonly timeout: number;
  readonly anyEvent?: boolean;
}

type Sent = Answer | { readonly error: string; readonly durationMs: number };

/** `paylink trigger`: sends a signed notification to a server. */
export function triggerCommand(): Command {
  const command = new Command('trigger')
    .summary('send a signed notification to your server')
    .description(
      'Sends a signed notification to your address, as the service does. A server that ' +
        'accepts it credits the order, so name an order that it may credit.',
    )
    .argument('[event]', 'the event kind', PAYMENT_SUCCEEDED)
    .option('--to <url>', 'the address of your webhook')
    .option('--reference <reference>', 'the order that was paid')
    .option('--field <name=value>', 'add a body field (can be repeated)', collect)
    .option('--body <file>', 'the exact body, instead of --reference and --field; - is stdin')
    .option('--times <n>', 'the number of notifications', wholeNumber(1, 1_000), 1)
    .option('--concurrent', 'send all at once')
    .option('--any-event', 'send an event kind unchanged, even if it looks misspelt')
    .option('--header <header>', 'add a header, "Name: value" (can be repeated)', collect)
    .addOption(
      new Option('--timeout <seconds>', 'time for each answer')
        .argParser(seconds)
        .default(30_000, '30'),
    );
  addSecretOptions(command);
  runs<Flags>(command, trigger);
  return teach(command, {
    examples: [
      [
        'paylink trigger payment.succeeded --to http://localhost:3000/webhooks/payments ' +
          '--reference order-42',
        'one notification',
      ],
      [
        'paylink trigger --to http://localhost:3000/webhooks/payments --reference ' +
          'order-42 --times 10 --concurrent',
        'tests that an order is credited once',
      ],
      [
        'paylink trigger --to http://localhost:3000/webhooks/payments --body notification.json',
        'the exact bytes of a file',
      ],
      [
        'paylink trigger --to http://localhost:3000/webhooks/payments --reference ' +
          'order-42 --dotenv .env',
        'the secret of your own .env',
      ],
    ],
    environment: [SECRET_ENVIRONMENT],
    exitCodes: [[0, 'every answer was 2xx'], [1, 'another answer, or no answer'], USAGE_EXIT],
  });
}

async function trigger({
  flags,
  args: [event = PAYMENT_SUCCEEDED],
  output,
}: Run<Flags>): Promise<number> {
  const url = requireTarget(flags.to);
  if (flags.anyEvent !== true) refuseMisspelt(event);
  const extra = readHeaders(flags.header);
  const secret = await requireSecret(flags, output);
  const delivery = await makeNotification(flags, event, secret);
  output.hide(delivery.signature, ...secretsOf(url, extra));

  output.line(text`POST ${output.paint.bold(showUrl(url))}`);
  output.line(
    text`${event}${flags.reference === undefined ? '' : ` for ${flags.reference}`}, ${delivery.rawBody.length} bytes, signed`,
  );
  output.line();

  const send = async (): Promise<Sent> => {
    const started = performance.now();
    const request = new Request(delivery.toRequest(url), {
      headers: { ...extra, ...delivery.headers },
    });
    return post(request, flags.timeout).catch((error: unknown) => ({
      error: explainNoAnswer(error, url),
      durationMs: Math.round(performance.now() - started),
    }));
  };
  const deliveries =
    flags.concurrent === true
      ? await atOnce(flags.times, send)
      : await inTurn(flags.times, send, output);
  return conclude(deliveries, { url, event, reference: flags.reference, output });
}

function atOnce(times: number, send: () => Promise<Sent>): Promise<Sent[]> {
  return Promise.all(Array.from({ length: times }, send));
}

async function inTurn(times: number, send: () => Promise<Sent>, output: Output): Promise<Sent[]> {
  const deliveries: Sent[] = [];
  for (let number = 1; number <= times; number++) {
    if (times > 1) output.progress(text`${number} of ${times}`);
    deliveries.push(await send());
  }
  return deliveries;
}

interface Context {
  readonly url: URL;
  readonly event: string;
  readonly reference: string | undefined;
  readonly output: Output;
}

function conclude(deliveries: readonly Sent[], { url, event, reference, output }: Context): number {
  const accepted = deliveries.filter(isAccepted).length;
  const ok = accepted === deliveries.length;
  output.table(deliveries.map((sent, index) => row(sent, index + 1, output)));
  output.line();
  output.line(
    text`${ok ? output.paint.green(accepted) : output.paint.red(accepted)} of ${deliveries.length} accepted (2xx)`,
  );
  const advice = deliveries
    .map((sent) => ('error' in sent ? undefined : adviceFor(sent, url)))
    .find((each) => each !== undefined);
  if (advice !== undefined) output.line(text`  ${advice}`);
  output.document({
    url: showUrl(url),
    event,
    reference: reference ?? null,
    ok,
    accepted,
    deliveries: deliveries.map((sent, index) => ({ number: index + 1, ...recordOf(sent, url) })),
  });
  return ok ? EXIT.ok : EXIT.failed;
}

/** Leaves the headers out, because they can hold cookies. */
function recordOf(sent: Sent, url: URL): object {
  if ('error' in sent) return sent;
  const { headers, ...rest } = sent;
  const target = redirectOf(sent, url);
  return {
    ...rest,
    contentType: headers['content-type'] ?? null,
    ...(target === undefined ? {} : { redirect: showUrl(target) }),
    ...(codeOf(sent) === undefined ? {} : { code: codeOf(sent) }),
  };
}

function isAccepted(sent: Sent): boolean {
  return 'status' in sent && sent.status >= 200 && sent.status <= 299;
}

// Characters of a reply that are enough to identify it.
const REPLY_SHOWN = 300;

function row(sent: Sent, number: number, output: Output): Printable[] {
  const { paint } = output;
  const time = paint.dim(`${sent.durationMs} ms`);
  if ('error' in sent) return [number, paint.red('none'), time, sent.error];
  // Redacts before cutting, because half a secret would not be found.
  const body = output.redact(sent.body).trim();
  const shown = body.length > REPLY_SHOWN ? `${body.slice(0, REPLY_SHOWN)}…` : body;
  return [
    number,
    isAccepted(sent) ? paint.green(sent.status) : paint.red(sent.status),
    time,
    shown,
  ];
}
