import { ConfigurationError } from '@paylink/core';
import { Hono } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { EmulatorError } from '../base/emulator-error.js';
import type { Payment } from '../contract/payment.js';
import type { Actions, PayChoice } from '../payments/actions.js';
import { createKeyCheck } from './authentication.js';

/**
 * Lets a program on this machine act as the customer: `POST /control/pay|fail|cancel` with
 * `{ reference, amount?, delivery? }`. The endpoints require the API key, so neither another site
 * in a browser nor another user of the machine can pay.
 */
export function createControl(apiKey: string, actions: Actions): Hono {
  const control = new Hono();
  const isAuthentic = createKeyCheck(apiKey);
  const verbs = new Map<string, (reference: string, choice: PayChoice) => Payment>([
    ['pay', (reference, choice) => actions.pay(reference, choice)],
    ['fail', (reference) => actions.settle(reference, 'failed')],
    ['cancel', (reference) => actions.settle(reference, 'cancelled')],
  ]);

  control.post('/:verb', async (c) => {
    const refuse = (code: string, message: string, status: ContentfulStatusCode): Response =>
      c.json({ error: { code, message } }, status);
    if (!isAuthentic(c.req.raw.headers))
      return refuse('unauthorized', 'the API key is missing or wrong', 401);
    const act = verbs.get(c.req.param('verb'));
    if (act === undefined) return refuse('not_found', 'this endpoint does not exist', 404);
    const fields = (await c.req.json().catch(() => undefined)) as
      | ({ readonly reference?: unknown } & PayChoice)
      | undefined;
    if (typeof fields?.reference !== 'string')
      return refuse('invalid_request', 'the body must be JSON with a reference', 400);
    try {
      const { reference, amount, delivery } = fields;
      return c.json(act(reference, { amount, delivery }));
    } catch (error) {
      if (error instanceof ConfigurationError) return refuse('invalid_request', error.message, 400);
      if (!(error instanceof EmulatorError)) throw error;
      return refuse(error.code, error.message, 409);
    }
  });
  return control;
}
