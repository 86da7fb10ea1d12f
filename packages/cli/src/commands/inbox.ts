import { createHash } from 'node:crypto';
import { Command, Option } from 'commander';
import type { Inbox, KeptDelivery } from '@paylink/payments';
import { runs, type CommonFlags, type Run } from '../action.js';
import { adviceFor } from '../answer-advice.js';
import { isLocalHost } from '../audit/local-host.js';
import { EXIT, failure, usageFailure } from '../failure.js';
import { teach, USAGE_EXIT } from '../help.js';
import {
  addInboxOptions,
  DATABASE_ENVIRONMENT,
  listedIn,
  withInbox,
  type InboxFlags,
} from '../inbox/database.js';
import { isAccepted, replay, type Replayed } from '../inbox/replay.js';
import { ago, requireTarget, seconds, secretsOf, showUrl, wholeNumber } from '../input.js';
import type { Output } from '../output.js';
import { codeOf } from '../reply.js';
import { text, type Printable } from '../safe-text.js';
import {
  addSecretOptions,
  DATABASE_VARIABLE,
  isOfProject,
  requireSecret,
  SECRET_ENVIRONMENT,
  SECRET_VARIABLES,
  type SecretFlags,
} from '../settings.js';

interface Flags extends CommonFlags, InboxFlags {}

/** `paylink inbox`: lists and replays failed deliveries. */
export function inboxCommand(): Command {
  return new Command('inbox')
    .summary('list failed deliveries, and send them to your webhook again')
    .description(
      'Manages the failed deliveries that postgresStore(pool, { inbox: true }) keeps. A ' +
        'delivery that succeeds later leaves the list.',
    )
    .addCommand(listCommand())
    .addCommand(showCommand())
    .addCommand(replayCommand())
    .addCommand(forgetCommand());
}

function listCommand(): Command {
  const command = new Command('list')
    .summary('list the failed deliveries')
    .description('Lists the failed deliveries, oldest first. --json prints one per line.');
  addInboxOptions(command);
  runs<Flags>(command, list);
  return teach(command, {
    examples: [
      ['paylink inbox list', 'from the database in DATABASE_URL'],
      ['paylink inbox list --json', 'for programs'],
    ],
    environment: [DATABASE_ENVIRONMENT],
    exitCodes: [
      [0, 'listed, even if the inbox is empty'],
      [1, 'the database did not answer'],
      USAGE_EXIT,
    ],
  });
}

async function list({ flags, output }: Run<Flags>): Promise<number> {
  const deliveries = await withInbox(flags, output, async (inbox) => {
    const all: KeptDelivery[] = [];
    for await (const delivery of listedIn(inbox)) all.push(delivery);
    return all;
  });
  for (const delivery of deliveries) output.record(recordOf(delivery));
  output.table(deliveries.map((delivery) => rowOf(delivery, output)));
  if (deliveries.length > 0) output.line();
  output.line(
    deliveries.length === 0
      ? 'The inbox is empty.'
      : `${deliveries.length} failed. paylink inbox replay --to <your webhook> sends them again.`,
  );
  return EXIT.ok;
}

function rowOf(
  { reference, kind, tenant, code, attempts, ...times }: KeptDelivery,
  output: Output,
) {
  return [
    output.paint.dim(times.lastFailedAt.toISOString()),
    output.paint.red(code),
    `${attempts} ${attempts === 1 ? 'attempt' : 'attempts'}`,
    kind,
    reference,
    ...(tenant === undefined ? [] : [text`tenant ${tenant}`]),
  ];
}

function recordOf(delivery: KeptDelivery): object {
  const { key, kind, reference, tenant = null, code, attempts, size } = delivery;
  const { firstFailedAt, lastFailedAt } = delivery;
  return { key, kind, reference, tenant, code, attempts, size, firstFailedAt, lastFailedAt };
}

function showCommand(): Command {
  const command = new Command('show')
    .summary('show the details of a delivery')
    .description('Shows the deliveries of an order or a key, but never a body.')
    .argument('<order>', "the order's reference, or a key from list --json");
  addInboxOptions(command);
  runs<Flags>(command, show);
  return teach(command, {
    examples: [
      ['paylink inbox show order-42', 'the failed deliveries of an order'],
      ['paylink inbox show order-42 --json', 'for programs'],
    ],
    environment: [DATABASE_ENVIRONMENT],
    exitCodes: [[0, 'shown'], [1, 'the inbox has no such delivery'], USAGE_EXIT],
  });
}

async function show({ flags, args: [order], output }: Run<Flags>): Promise<number> {
  const found = await withInbox(flags, output, async (inbox) => {
    const all = [];
    for await (const { key, reference } of listedIn(inbox)) {
      const delivery = [key, reference].includes(order!) ? await inbox.get(key) : undefined;
      if (delivery !== undefined) all.push(delivery);
    }
    return all;
  });
  if (found.length === 0) {
    throw failure(
      `the inbox has no failed delivery of ${order!}`,
      'no delivery failed, or a later delivery succeeded',
    );
  }
  for (const delivery of found) {
    const digest = createHash('sha256').update(delivery.rawBody).digest('hex');
    output.table([
      ['Reference', delivery.reference],
      ['Kind', delivery.kind],
      ...(delivery.tenant === undefined ? [] : [['Tenant', delivery.tenant]]),
      ['Code', output.paint.red(delivery.code)],
      ['Attempts', delivery.attempts],
      ['First failed', delivery.firstFailedAt.toISOString()],
      ['Last failed', delivery.lastFailedAt.toISOString()],
      ['Body', `${delivery.size} bytes, SHA-256 ${digest}`],
      ['Key', delivery.key],
    ]);
    output.line();
    output.record({ ...recordOf(delivery), sha256: digest });
  }
  return EXIT.ok;
}

interface ReplayFlags extends Flags, SecretFlags {
  readonly to?: string;
  readonly reference?: string;
  readonly tenant?: string;
  readonly allowHttp?: boolean;
  readonly rate: number;
  readonly timeout: number;
}

function replayCommand(): Command {
  const command = new Command('replay')
    .summary('send the failed deliveries to your webhook again')
    .description(
      'Signs the kept bytes and sends them to your own webhook, one at a time, oldest ' +
        'first. A replay is an ordinary delivery and cannot credit an order twice, even if ' +
        'two terminals replay at once. The command stops at the first answer to a wrong ' +
        'address or secret, and after three unanswered deliveries in a row. Each call has ' +
        'one secret: with several merchants, select one with --tenant.',
    )
    .option('--to <url>', 'your webhook')
    .option('--reference <reference>', 'only the deliveries of this order')
    .option(
      '--tenant <tenant>',
      'the deliveries of this merchant (default: deliveries without a tenant)',
    )
    .option('--allow-http', 'send to another machine without https')
    .option('--rate <n>', 'the most deliveries per second', wholeNumber(1, 10_000), 10)
    .addOption(
      new Option('--timeout <seconds>', 'time for each answer')
        .argParser(seconds)
        .default(30_000, '30'),
    );
  addInboxOptions(command);
  addSecretOptions(command);
  runs<ReplayFlags>(command, replayAll);
  return teach(command, {
    examples: [
      ['paylink inbox replay --to https://shop.example/webhooks/payments', 'all failed deliveries'],
      [
        'paylink inbox replay --to https://shop.example/webhooks/payments --reference order-42',
        'one order',
      ],
      [
        'paylink inbox replay --to https://shop.example/webhooks/north --tenant north --rate 50',
        'one merchant of several',
      ],
    ],
    environment: [SECRET_ENVIRONMENT, DATABASE_ENVIRONMENT],
    exitCodes: [
      [0, 'every delivery was accepted or handled meanwhile, or the inbox was empty'],
      [1, 'a delivery was refused or got no answer'],
      USAGE_EXIT,
    ],
  });
}

async function replayAll({ flags, output }: Run<ReplayFlags>): Promise<number> {
  const url = requireTarget(flags.to);
  if (flags.tenant === '') throw usageFailure('--tenant must not be empty');
  if (url.protocol === 'http:' && flags.allowHttp !== true && !isLocalHost(url.hostname)) {
    throw usageFailure(
      `${url.hostname} is not this machine, and http would expose the signed deliveries`,
      'use https, or --allow-http inside your own network, such as between containers',
    );
  }
  const secret = await requireSecret(flags, output);
  refuseStrangersDatabase(flags, url);
  output.hide(...secretsOf(url, {}));
  return withInbox(flags, output, async (inbox) => {
    const deliveries = await select(inbox, flags, output);
    const { rate, timeout } = flags;
    const answers = new Map<string, Replayed>();
    const replays = replay(deliveries, { inbox, url, secret, rate, timeout });
    for await (const [delivery, replayed] of replays) {
      answers.set(delivery.key, replayed);
      output.table([resultOf(delivery, replayed, output)]);
      output.record({ ...recordOf(delivery), ...answerOf(replayed) });
    }
    // Lists after all replays, because a delivery that got `in_progress` may have succeeded
    // meanwhile.
    const listed = new Set<string>();
    if (answers.size > 0) for await (const { key } of listedIn(inbox)) listed.add(key);
    const open = [...answers].filter(([key]) => listed.has(key)).map(([, replayed]) => replayed);
    conclude({ total: deliveries.length, count: answers.size, open, url, output });
    const isComplete = answers.size === deliveries.length;
    return isComplete && open.every(isAccepted) ? EXIT.ok : EXIT.failed;
  });
}

/**
 * Refuses a database that only the project's .env names: a cloned project could name a stranger's
 * database, and a secret from elsewhere would sign its texts.
 */
function refuseStrangersDatabase(flags: ReplayFlags, url: URL): void {
  const { databaseUrl, secret, secretFile } = flags;
  const isOfStranger = databaseUrl === undefined && isOfProject(DATABASE_VARIABLE);
  const isSecretGiven = secret !== undefined || secretFile !== undefined;
  const isSecretOfStranger = !isSecretGiven && SECRET_VARIABLES.some(isOfProject);
  if (!isOfStranger || isSecretOfStranger || isLocalHost(url.hostname)) return;
  throw usageFailure(
    "your secret would sign the contents of a database that only this folder's .env names",
    'if this is intended, give --database-url, or --dotenv .env',
  );
}

async function select(
  inbox: Inbox,
  { reference, tenant }: ReplayFlags,
  output: Output,
): Promise<readonly KeptDelivery[]> {
  const selected: KeptDelivery[] = [];
  let ofOthers = 0;
  for await (const delivery of listedIn(inbox)) {
    if (reference !== undefined && delivery.reference !== reference) continue;
    if (delivery.tenant === tenant) selected.push(delivery);
    else ofOthers += 1;
  }
  if (ofOthers > 0)
    output.note(text`${ofOthers} more belong to other merchants: select one with --tenant`);
  return selected;
}

function resultOf(
  { reference }: KeptDelivery,
  replayed: Replayed,
  { paint }: Output,
): readonly Printable[] {
  if (replayed === 'handled') return [reference, paint.dim('handled meanwhile')];
  const time = paint.dim(`${replayed.durationMs} ms`);
  if ('error' in replayed) return [reference, paint.red('no answer'), time, replayed.error];
  const status = isAccepted(replayed) ? paint.green(replayed.status) : paint.red(replayed.status);
  const code = codeOf(replayed);
  return [reference, status, time, ...(code === undefined ? [] : [code])];
}

/** Leaves the reply's body out, because it can quote the request. */
function answerOf(replayed: Replayed): object {
  if (replayed === 'handled') return { result: 'handled meanwhile' };
  const { durationMs } = replayed;
  if ('error' in replayed) return { result: 'no answer', error: replayed.error, durationMs };
  const result = isAccepted(replayed) ? 'accepted' : 'refused';
  return { result, status: replayed.status, reply: codeOf(replayed) ?? null, durationMs };
}

interface Conclusion {
  readonly total: number;
  /** The number of answered deliveries. */
  readonly count: number;
  /** The answers to deliveries that are still in the inbox. */
  readonly open: readonly Replayed[];
  readonly url: URL;
  readonly output: Output;
}

function conclude({ total, count, open, url, output }: Conclusion): void {
  if (total === 0) return output.line('The inbox has no failed delivery to replay.');
  const { paint } = output;
  const refused = open.filter((replayed) => !isAccepted(replayed));
  const accepted = count - refused.length;
  const shown = accepted === total ? paint.green(accepted) : paint.red(accepted);
  output.line();
  output.line(text`${shown} of ${total} accepted`);
  if (count < total)
    output.line(text`Stopped at ${showUrl(url)}: the other ${total - count} would fail alike.`);
  if (open.length > refused.length) {
    const unhandled = `${open.length - refused.length} accepted, but still in the inbox`;
    output.line(`${unhandled}: a queue holds them, or another server answered.`);
  }
  const replies = open.filter((replayed) => typeof replayed === 'object' && 'status' in replayed);
  const advice = new Set(replies.map((reply) => adviceFor(reply, url)));
  for (const line of advice) if (line !== undefined) output.line(text`  ${line}`);
}

interface ForgetFlags extends Flags {
  readonly olderThan?: Date;
}

function forgetCommand(): Command {
  const command = new Command('forget')
    .summary('delete old deliveries')
    .description(
      'Deletes the deliveries whose last failure is before a date, with their bodies, ' +
        'even if they were handled later.',
    )
    .option('--older-than <age>', 'days or hours since the last failure: 30d, 12h', ago);
  addInboxOptions(command);
  runs<ForgetFlags>(command, forget);
  return teach(command, {
    examples: [
      [
        'paylink inbox forget --older-than 30d',
        'deliveries whose last failure is over 30 days old',
      ],
      ['paylink inbox forget --older-than 30d --json', 'for programs'],
    ],
    environment: [DATABASE_ENVIRONMENT],
    exitCodes: [[0, 'deleted'], [1, 'the database did not answer'], USAGE_EXIT],
  });
}

async function forget({ flags, output }: Run<ForgetFlags>): Promise<number> {
  const { olderThan } = flags;
  if (olderThan === undefined)
    throw usageFailure('no --older-than', 'for example --older-than 30d');
  const forgotten = await withInbox(flags, output, (inbox) => inbox.forget({ olderThan }));
  output.line(`${forgotten} ${forgotten === 1 ? 'delivery' : 'deliveries'} deleted`);
  output.document({ forgotten, olderThan });
  return EXIT.ok;
}
