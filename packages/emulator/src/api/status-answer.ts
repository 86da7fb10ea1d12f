import { setTimeout as sleep } from 'node:timers/promises';
import type { StatusAnswer } from '../contract/assumed.js';
import { LONGEST_TIMER } from '@paylink/core/internal';

/** Answers a status read with the result of `assumed.statusAnswer`. An abort ends the delay. */
export async function answerStatus(
  { status = 200, headers = {}, body, delay = 0 }: StatusAnswer,
  signal: AbortSignal,
): Promise<Response> {
  const time = Math.min(delay, LONGEST_TIMER);
  if (time > 0) await sleep(time, undefined, { signal }).catch(() => undefined);
  const json = JSON.stringify(body) as string | undefined;
  return new Response(typeof body === 'string' ? body : json, {
    status,
    headers: { 'Content-Type': 'application/json', ...headers },
  });
}
