import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Command } from 'commander';
import { adviceFor } from '../receiver/answer-advice.js';
import { codeOf, isSuccess } from '../receiver/reply.js';
import { makePrivateFolder } from '../settings/kept-secrets.js';
import {
  findSecret,
  keptSetting,
  SECRET_OPTIONS,
  validateSecret,
  type SecretFlags,
} from '../settings/settings.js';
import { createCommand, option, type CommonFlags, type Run } from '../terminal/command.js';
import { EXIT, failure, messageOf } from '../terminal/failure.js';
import { parseUrl, showUrl, wholeNumber } from '../terminal/input.js';
import type { Output } from '../terminal/output.js';
import { text } from '../terminal/safe-text.js';
import { untilStopped } from '../terminal/until-stopped.js';
import { forward, headersOf, readBody, replyOf, type Delivery, type Forwarded } from './forward.js';
import { createRecorder, type Recorder } from './recorder.js';

interface Flags extends CommonFlags, SecretFlags {
  readonly forwardTo: URL;
  readonly port: number;
}

const FOLDER = '.paylink/deliveries';

/** `paylink listen`: forwards requests to the merchant's webhook and records deliveries. */
export const listenCommand = (): Command =>
  createCommand<Flags>('listen', {
    summary: 'forward deliveries to your webhook, record them, and explain wrong signatures',
    description:
      'Listens on this machine, for example behind a tunnel, and forwards each delivery to your ' +
      'server byte for byte. Your server verifies the delivery as usual, and its answer goes ' +
      `back. Records each delivery in ${FOLDER}, for diagnose and trigger. With the webhook ` +
      'secret, explains signatures that do not match.',
    options: [
      option('--forward-to <url>', 'your own webhook', { parse: parseUrl, isRequired: true }),
      option('--port <port>', 'the port (0: any free port)', {
        parse: wholeNumber(0, 65_535),
        initial: 4020,
      }),
      ...SECRET_OPTIONS,
    ],
    examples: ['paylink listen --forward-to http://localhost:3000/webhooks/payments'],
    run: listen,
  });

interface Context {
  readonly target: URL;
  readonly secret: string | undefined;
  readonly output: Output;
  readonly record: Recorder;
  readonly stop: AbortSignal;
}

async function listen({ flags, output }: Run<Flags>): Promise<number> {
  const { forwardTo: target, port } = flags;
  const found = (await findSecret(flags, output)) ?? keptSetting('webhookSecret', output);
  const secret = found === undefined ? undefined : (await validateSecret(found)).value;
  makePrivateFolder(FOLDER, output);
  const stop = new AbortController();
  const record = createRecorder(FOLDER);
  const context: Context = { target, secret, output, record, stop: stop.signal };
  const server = createServer((req, res) => {
    receive(req, res, context).catch((error: unknown) => {
      output.error(messageOf(error));
      if (!res.headersSent) answer(res, 500);
    });
  });
  await once(server.listen(port, '127.0.0.1'), 'listening').catch((error: unknown) => {
    throw failure(messageOf(error), 'choose another port with --port, or let --port 0 pick one');
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const stopped = untilStopped();
  const { paint } = output;
  output.record({ type: 'started', url });
  output.line(text`Listening at ${paint.cyan(url)}, forwarding to ${paint.cyan(showUrl(target))}`);
  const unchecked = secret === undefined ? ' Signatures are not checked: no secret is set.' : '';
  output.line(text`Recording in ${FOLDER}.${unchecked}`);
  output.line(paint.dim('Ctrl-C stops it.'));
  await stopped;
  // A server that does not answer must not hold Ctrl-C up.
  stop.abort();
  server.close();
  server.closeAllConnections();
  return EXIT.ok;
}

/** Records a delivery before forwarding it, so that a failing server loses no delivery. */
async function receive(req: IncomingMessage, res: ServerResponse, context: Context): Promise<void> {
  // The rest is read and dropped, because a sender whose connection is closed does not see the 413.
  const body = await readBody(req.iterator({ destroyOnReturn: false }));
  if (body === undefined) {
    req.resume();
    res.writeHead(413).end();
    return;
  }
  const receivedAt = new Date().toISOString();
  const delivery = { receivedAt, method: req.method!, headers: headersOf(req), body };
  const file = context.record(delivery);
  const forwarded = await forward(delivery, context.target, context.stop);
  // 503: the service may retry once the merchant's server is back.
  if (typeof forwarded === 'string') answer(res, 503);
  else res.writeHead(forwarded.status, forwarded.headers.flat()).end(forwarded.body);
  await tell(delivery, forwarded, file, context);
}

function answer(res: ServerResponse, status: number): void {
  const retry = status === 503 ? { 'retry-after': '60' } : {};
  res.writeHead(status, { connection: 'close', ...retry }).end();
}

/**
 * Prints one line per delivery, with the reason if the signature does not match. Never prints the
 * signature, the secret or the body.
 */
async function tell(
  delivery: Delivery,
  forwarded: Forwarded | string,
  file: string | undefined,
  { target, secret, output }: Context,
): Promise<void> {
  const { paint } = output;
  const { receivedAt: at, body } = delivery;
  const diagnosis = secret === undefined ? undefined : await problemOf(delivery, secret);
  const event = valuesOf(delivery, 'x-service-event').join(', ') || '(no event)';
  const reply = typeof forwarded === 'string' ? undefined : replyOf(forwarded);
  const code = reply === undefined ? undefined : codeOf(reply);
  const advice =
    reply === undefined || diagnosis !== undefined ? undefined : adviceFor(reply, target);
  output.record({
    ...{ type: 'delivery', at, event, bodyBytes: body.length, status: reply?.status, code, advice },
    error: typeof forwarded === 'string' ? forwarded : undefined,
    signature:
      secret === undefined ? undefined : diagnosis === undefined ? 'matches' : 'does not match',
    ...{ diagnosis, file },
  });
  const outcome =
    typeof forwarded === 'string'
      ? forwarded
      : `${forwarded.status}${code === undefined ? '' : ` (${code})`}`;
  const isAcknowledged = reply !== undefined && isSuccess(reply.status);
  const shown = (isAcknowledged ? paint.green : paint.red)(outcome);
  const where = paint.dim(file ?? `not recorded: ${FOLDER} is full`);
  const time = paint.dim(at.slice(11, 19));
  output.line(text`${time}  ${event} (${body.length} bytes) → ${shown}  ${where}`);
  if (diagnosis !== undefined) output.line(text`          ${paint.red('signature:')} ${diagnosis}`);
  if (advice !== undefined) output.line(paint.dim(text`          ${advice}`));
}

/** Explains a signature that does not match. Returns undefined if the signature matches. */
async function problemOf(delivery: Delivery, secret: string): Promise<string | undefined> {
  const [signature, second] = valuesOf(delivery, 'x-service-signature');
  if (signature === undefined) return 'the delivery has no X-Service-Signature header';
  if (second !== undefined) return 'the delivery has more than one X-Service-Signature header';
  const { isWebhookError, verifySignature } = await import('@paylink/core');
  try {
    await verifySignature(delivery.body, signature, secret);
    return undefined;
  } catch (error) {
    if (!isWebhookError(error)) throw error;
    const { diagnose } = await import('@paylink/core/diagnose');
    return (await diagnose({ rawBody: delivery.body, signature, secret })).message;
  }
}

function valuesOf({ headers }: Delivery, wanted: string): string[] {
  return headers.filter(([name]) => name.toLowerCase() === wanted).map(([, value]) => value);
}
