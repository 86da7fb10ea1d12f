import { Hono } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { EmulatorError, type EmulatorErrorCode } from '../emulator-error.js';
import type { Actions } from '../payments/actions.js';
import type { Payment } from '../payments/payment.js';
import { createKeyCheck } from './authentication.js';

const STATUSES: Partial<Record<EmulatorErrorCode, ContentfulStatusCode>> = {
  payment_not_found: 404,
  transition_not_allowed: 409,
  invalid_amount: 422,
};

/**
 * Lets a program on this machine act as the customer: `POST /control/pay|fail|cancel` with
 * `{ reference, amount? }`. The endpoints require the API key, so neither another site in a browser
 * nor another user of the machine can pay.
 */
export function createControl({
  apiKey,
  actions,
}: {
  readonly apiKey: string;
  readonly actions: Actions;
}): Hono {
  const control = new Hono();
  const isAuthentic = createKeyCheck(apiKey);
  const verbs: Readonly<
    Record<string, (reference: string, amount: number | undefined) => Payment>
  > = {
    pay: (reference, amount) => actions.pay(reference, amount),
    fail: (reference) => actions.settle(reference, 'failed'),
    cancel: (reference) => actions.settle(reference, 'cancelled'),
  };

  control.post('/:verb', async (c) => {
    const refuse = (code: string, message: string, status: ContentfulStatusCode): Response =>
      c.json({ error: { code, message } }, status);
    if (!isAuthentic(c.req.raw.headers))
      return refuse('unauthorized', 'the API key is missing or wrong', 401);
    const verb = c.req.param('verb');
    const act = Object.hasOwn(verbs, verb) ? verbs[verb] : undefined;
    if (act === undefined) return refuse('not_found', 'this endpoint does not exist', 404);
    const fields = (await c.req.json().catch(() => undefined)) as
      { reference?: unknown; amount?: number } | undefined;
    if (typeof fields?.reference !== 'string')
      return refuse('invalid_request', 'the body must be JSON with a reference', 400);
    try {
      return c.json(act(fields.reference, fields.amount));
    } catch (error) {
      if (!(error instanceof EmulatorError)) throw error;
      return refuse(error.code, error.message, STATUSES[error.code] ?? 500);
    }
  });
  return control;
}
