import { createReceiver } from '@paylink/core';
import { deliveryOf, paymentWebhook, toResponse } from '@paylink/fetch';
import { payments } from './shop.js';

const secret = process.env['WEBHOOK_SECRET'];

// #region paymentWebhook
export const handle = paymentWebhook({ secret }, payments.receive);
// const response = await handle(request);
// #endregion

const receiver = createReceiver({ secret }, payments.receive);

// #region deliveryOf
export async function onRequest(request: Request): Promise<Response> {
  const delivery = deliveryOf(request);
  return toResponse(delivery, await receiver.receive(delivery, { request }));
}
// #endregion

// #region toResponse
export const notFound = (request: Request): Response =>
  toResponse(deliveryOf(request), { status: 404, headers: {}, body: '' });
// #endregion
