/** Prints each API request and each notification. */
import type { EmulatorOptions } from '@paylink/emulator';
import type { Output } from '../terminal/output.js';
import { text, type SafeText } from '../terminal/safe-text.js';
import type { LoggedAttempt } from './delivery-log.js';

export function logAttempt(attempt: LoggedAttempt, output: Output): void {
  output.record({ type: 'delivery', ...attempt });
  output.line(describeAttempt(attempt, output));
  if (attempt.advice !== undefined)
    output.line(output.paint.dim(text`          ${attempt.advice}`));
}

function describeAttempt(attempt: LoggedAttempt, { paint }: Output): SafeText {
  const { at, event, reference, number, status, code, error, durationMs, retryInMs } = attempt;
  const subject = text`${event} ${reference}${number > 1 ? ` (${number})` : ''}`;
  const answer =
    status === undefined
      ? paint.red(error ?? 'no answer')
      : (attempt.acknowledged ? paint.green : paint.red)(
          `${status}${code === undefined ? '' : ` (${code})`}`,
        );
  // The reason of a missing answer names its time already.
  const time = status === undefined ? '' : text` ${paint.dim(`in ${durationMs} ms`)}`;
  const again = retryInMs === undefined ? '' : `, again in ${(retryInMs / 1_000).toFixed(1)} s`;
  return text`${paint.dim(at.slice(11, 19))}  ${subject} → ${answer}${time}${again}`;
}

/** Logs a request to the API without its body, which the dashboard shows. */
type ApiRequest = Parameters<NonNullable<EmulatorOptions['onRequest']>>[0];

export function logRequest(request: ApiRequest, output: Output): void {
  const { at, durationMs, method, path, reference, status, code, message } = request;
  const common = { at: at.toISOString(), method, path, status, durationMs: Math.round(durationMs) };
  output.record({
    type: 'request',
    ...common,
    ...(reference === undefined ? {} : { reference }),
    ...(code === undefined ? {} : { code }),
  });
  const { paint } = output;
  const answer = status < 400 ? paint.green(status) : paint.red(status);
  const subject = method === 'POST' && reference !== undefined ? ` ${reference}` : '';
  const why = message === undefined ? '' : `: ${message}`;
  output.line(
    text`${paint.dim(common.at.slice(11, 19))}  ${method} ${path}${subject} → ${answer}${why}`,
  );
}
