/** Prints each API request and each notification. */
import type { EmulatorDelivery, EmulatorOptions } from '@paylink/emulator';
import { adviceFor } from '../receiver/answer-advice.js';
import { isSuccess, type Reply } from '../receiver/reply.js';
import type { Output } from '../terminal/output.js';
import { text } from '../terminal/safe-text.js';

type DeliveryAttempt = EmulatorDelivery['attempts'][number];
type ApiRequest = Parameters<NonNullable<EmulatorOptions['onRequest']>>[0];

/** Logs an attempt without the signed body and the signature. */
export function logAttempt(
  { id, event, reference, url, attempts, nextAttemptAt }: EmulatorDelivery,
  { number, startedAt, durationMs: duration, response, error }: DeliveryAttempt,
  output: Output,
): void {
  const { paint } = output;
  const status = response?.status;
  const code = response?.code;
  const acknowledged = status !== undefined && isSuccess(status);
  const at = startedAt.toISOString();
  const durationMs = Math.round(duration);
  const isLast = number === attempts.at(-1)?.number;
  const isRetried = isLast && nextAttemptAt !== undefined;
  const retryInMs = isRetried ? Math.max(0, nextAttemptAt.getTime() - Date.now()) : undefined;
  // The first attempt of a delivery says enough.
  const advice =
    number > 1 || response === undefined
      ? undefined
      : // Of the headers, only Set-Cookie is a list, which gives no advice.
        adviceFor(response as Reply, new URL(url));
  const outcome = { status, code, error, durationMs, acknowledged, retryInMs, advice };
  output.record({ type: 'delivery', at, id, event, reference, number, ...outcome });

  const subject = text`${event} ${reference}${number > 1 ? ` (${number})` : ''}`;
  const said = code === undefined ? String(status) : `${status} (${code})`;
  const reply = status === undefined ? (error ?? 'no answer') : said;
  const answer = (acknowledged ? paint.green : paint.red)(reply);
  // The reason of a missing answer names its time already.
  const time = status === undefined ? '' : text` ${paint.dim(`in ${durationMs} ms`)}`;
  const again = retryInMs === undefined ? '' : `, again in ${(retryInMs / 1_000).toFixed(1)} s`;
  output.line(text`${paint.dim(at.slice(11, 19))}  ${subject} → ${answer}${time}${again}`);
  if (advice !== undefined) output.line(paint.dim(text`          ${advice}`));
}

/** Logs a request to the API without its body. */
export function logRequest(request: ApiRequest, output: Output): void {
  const { method, path, reference, status, code, message } = request;
  const at = request.at.toISOString();
  const durationMs = Math.round(request.durationMs);
  output.record({ type: 'request', at, method, path, status, durationMs, reference, code });
  const { paint } = output;
  const answer = (status < 400 ? paint.green : paint.red)(status);
  const subject = method === 'POST' && reference !== undefined ? ` ${reference}` : '';
  const why = message === undefined ? '' : `: ${message}`;
  const time = paint.dim(at.slice(11, 19));
  output.line(text`${time}  ${method} ${path}${subject} → ${answer}${why}`);
}
