import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { Command } from 'commander';
import { isWebhookError, verifySignature } from '@paylink/core';
import { diagnose } from '@paylink/core/diagnose';
import { runs, type CommonFlags, type Run } from '../terminal/action.js';
import { adviceFor } from '../receiver/answer-advice.js';
import { cannotBeWritten, EXIT, failure, usageFailure } from '../terminal/failure.js';
import { teach, USAGE_EXIT } from '../terminal/help.js';
import { collect, readUrl, showUrl, wholeNumber } from '../terminal/input.js';
import { makePrivateFolder } from '../settings/kept-secrets.js';
import type { Output } from '../terminal/output.js';
import {
  openRecorder,
  readRecorded,
  type RecordedDelivery,
  type Recorder,
} from './recorded-delivery.js';
import { codeOf } from '../receiver/reply.js';
import { forward, headersOf, linesOf, readBody, replyOf, type Forwarded } from './forward.js';
import { text } from '../terminal/safe-text.js';
import { untilStopped } from '../terminal/until-stopped.js';
import {
  addSecretOptions,
  findSecret,
  SECRET_ENVIRONMENT,
  type SecretFlags,
} from '../settings/settings.js';

interface Flags extends CommonFlags, SecretFlags {
  readonly forwardTo?: string;
  readonly port: number;
  readonly record: string;
  readonly recordLimit: number;
  readonly replay?: readonly string[];
}

const DEFAULT_PORT = 4020;
const DEFAULT_FOLDER = '.paylink/deliveries';
// Holds about 50,000 deliveries.
const DEFAULT_MEGABYTES = 100;
/** `paylink listen`: forwards requests to the merchant's webhook and records deliveries. */
export function listenCommand(): Command {
  const command = new Command('listen')
    .summary('forward deliveries to your webhook, record them, and explain wrong signatures')
    .description(
      'Listens on this machine, for example behind a tunnel, and forwards each delivery ' +
        'to your server byte for byte. Your server verifies the delivery as usual, and its ' +
        'answer goes back. Records each delivery in its own file, up to --record-limit. ' +
        'With the webhook secret, explains signatures that do not match. --replay sends a ' +
        'recorded delivery again.',
    )
    .option('--forward-to <url>', 'your own webhook')
    .option('--port <port>', 'the port (0: any free port)', wholeNumber(0, 65_535), DEFAULT_PORT)
    .option(
      '--record <folder>',
      'the folder of the recordings, with owner-only permissions',
      DEFAULT_FOLDER,
    )
    .option(
      '--record-limit <megabytes>',
      'stop recording at this folder size',
      wholeNumber(1, 1_000_000),
      DEFAULT_MEGABYTES,
    )
    .option(
      '--replay <file>',
      'send a recorded delivery to --forward-to, then exit (can be repeated)',
      collect,
    );
  addSecretOptions(command);
  runs<Flags>(command, listen);
  return teach(command, {
    examples: [
      [
        'paylink listen --forward-to http://localhost:3000/webhooks/payments',
        'then point your tunnel at http://127.0.0.1:4020',
      ],
      [
        'paylink listen --forward-to http://localhost:3000/webhooks/payments --replay ' +
          '.paylink/deliveries/one.json',
        'sends a real delivery again, with its signature',
      ],
    ],
    environment: [SECRET_ENVIRONMENT],
    exitCodes: [
      [0, 'stopped by Ctrl-C, or every replay was acknowledged'],
      [1, 'a replay was not acknowledged, or the port is taken'],
      USAGE_EXIT,
    ],
  });
}

async function listen({ flags, output }: Run<Flags>): Promise<number> {
  if (flags.forwardTo === undefined) {
    throw usageFailure(
      "no --forward-to: give your webhook's address",
      'for example --forward-to http://localhost:3000/webhooks/payments',
    );
  }
  const target = readUrl(flags.forwardTo, '--forward-to');
  const secret = await findSecret(flags, output);
  if (flags.replay !== undefined) return replay(flags.replay, { target, secret, output });

  const isIgnored = await makePrivateFolder(flags.record).catch((error: unknown) => {
    throw usageFailure(`--record: ${cannotBeWritten(flags.record, error)}`);
  });
  if (!isIgnored) {
    output.note(
      text`${flags.record} has its own .gitignore: make git ignore the deliveries, which hold signatures`,
    );
  }
  const record = await openRecorder(flags.record, flags.recordLimit * 1_000_000);
  const stop = new AbortController();
  const server = createServer((req, res) => {
    void take(req, res, { target, secret, output, record, stop: stop.signal }).catch(
      (error: unknown) => {
        output.error(error instanceof Error ? error.message : String(error));
        if (!res.headersSent) answer(res, 500);
      },
    );
  });
  const port = await open(server, flags.port);
  const stopped = untilStopped();
  output.record({ type: 'started', url: `http://127.0.0.1:${port}` });
  output.line(
    text`Listening at ${output.paint.cyan(`http://127.0.0.1:${port}`)}, forwarding to ${output.paint.cyan(showUrl(target))}`,
  );
  output.line(
    text`Recording in ${flags.record}. ${secret === undefined ? 'Signatures are not checked: no webhook secret is set.' : ''}`,
  );
  output.line(output.paint.dim('Ctrl-C stops it.'));
  await stopped;
  // A server that does not answer must not hold Ctrl-C up.
  stop.abort();
  server.close();
  server.closeAllConnections();
  return EXIT.ok;
}

interface Context {
  readonly target: URL;
  readonly secret: string | undefined;
  readonly output: Output;
}

/** Records a delivery before forwarding it, so that a failing server loses no delivery. */
async function take(
  req: IncomingMessage,
  res: ServerResponse,
  { record, stop, ...context }: Context & { readonly record: Recorder; readonly stop: AbortSignal },
): Promise<void> {
  // The rest is read and dropped, because a sender whose connection is closed does not see the 413.
  const body = await readBody(req.iterator({ destroyOnReturn: false }));
  if (body === undefined) {
    req.resume();
    res.writeHead(413).end();
    return;
  }
  const delivery = {
    receivedAt: new Date().toISOString(),
    method: req.method ?? 'POST',
    headers: headersOf(req),
    body,
  };
  const file = await record(delivery);
  const forwarded = await forward(delivery, context.target, stop);
  // 503: the service may retry once the merchant's server is back.
  if (typeof forwarded === 'string') answer(res, 503);
  else res.writeHead(forwarded.status, linesOf(forwarded.headers)).end(forwarded.body);
  await tell(delivery, { ...context, forwarded, file });
}

/**
 * Prints one line per delivery, with the reason if the signature does not match. Never prints the
 * signature, the secret or the body.
 */
async function tell(
  delivery: RecordedDelivery,
  {
    target,
    secret,
    output,
    forwarded,
    file,
  }: Context & { readonly forwarded: Forwarded | string; readonly file: string | undefined },
): Promise<void> {
  const { paint } = output;
  const problem = secret === undefined ? undefined : await problemOf(delivery, secret);
  const event = valuesOf(delivery, 'x-service-event').join(', ') || '(no event)';
  const status = typeof forwarded === 'string' ? undefined : forwarded.status;
  const isAcknowledged = status !== undefined && status >= 200 && status <= 299;
  const reply = typeof forwarded === 'string' ? undefined : replyOf(forwarded);
  const code = reply === undefined ? undefined : codeOf(reply);
  const outcome =
    typeof forwarded === 'string'
      ? forwarded
      : `${forwarded.status}${code === undefined ? '' : ` (${code})`}`;
  const advice =
    reply === undefined || problem !== undefined ? undefined : adviceFor(reply, target);
  output.record({
    type: 'delivery',
    at: delivery.receivedAt,
    event,
    bodyBytes: delivery.body.length,
    ...(status === undefined ? { error: forwarded } : { status }),
    ...(code === undefined ? {} : { code }),
    ...(advice === undefined ? {} : { advice }),
    ...(secret === undefined
      ? {}
      : { signature: problem === undefined ? 'matches' : 'does not match' }),
    ...(problem === undefined ? {} : { diagnosis: problem }),
    ...(file === undefined ? { recorded: false } : { file }),
  });
  const where = file ?? 'not recorded: the folder is full, see --record-limit';
  output.line(
    text`${paint.dim(delivery.receivedAt.slice(11, 19))}  ${event} (${delivery.body.length} bytes) → ${isAcknowledged ? paint.green(outcome) : paint.red(outcome)}  ${paint.dim(where)}`,
  );
  if (problem !== undefined) output.line(text`          ${paint.red('signature:')} ${problem}`);
  if (advice !== undefined) output.line(paint.dim(text`          ${advice}`));
}

/** Explains a signature that does not match. Returns undefined if the signature matches. */
async function problemOf(delivery: RecordedDelivery, secret: string): Promise<string | undefined> {
  const signatures = valuesOf(delivery, 'x-service-signature');
  if (signatures.length === 0) return 'the delivery has no X-Service-Signature header';
  if (signatures.length > 1) return 'the delivery has more than one X-Service-Signature header';
  try {
    await verifySignature(delivery.body, signatures[0]!, secret);
    return undefined;
  } catch (error) {
    if (!isWebhookError(error)) throw error;
    return (await diagnose({ rawBody: delivery.body, signature: signatures[0]!, secret })).message;
  }
}

function valuesOf({ headers }: RecordedDelivery, wanted: string): string[] {
  return headers.filter(([name]) => name.toLowerCase() === wanted).map(([, value]) => value);
}

async function replay(files: readonly string[], context: Context): Promise<number> {
  const deliveries = await Promise.all(
    files.map(async (file) => ({ file, delivery: await readRecorded(file) })),
  );
  let isRight = true;
  for (const { file, delivery } of deliveries) {
    const forwarded = await forward(delivery, context.target);
    await tell(delivery, { ...context, forwarded, file });
    isRight &&= typeof forwarded !== 'string' && forwarded.status >= 200 && forwarded.status <= 299;
  }
  return isRight ? EXIT.ok : EXIT.failed;
}

function answer(res: ServerResponse, status: number): void {
  res
    .writeHead(status, { connection: 'close', ...(status === 503 ? { 'retry-after': '60' } : {}) })
    .end();
}

function open(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      reject(
        error.code === 'EADDRINUSE'
          ? failure(
              `port ${port} is taken`,
              'choose another port with --port, or let --port 0 pick a free port',
            )
          : failure(error.message),
      );
    });
    server.listen(port, '127.0.0.1', () => resolve((server.address() as { port: number }).port));
  });
}
