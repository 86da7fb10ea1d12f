import { createGate, webhookEvent } from '@paylink/core';
import { signedDelivery, TEST_SECRET } from '@paylink/testing';
import { describe, expect, it, vi } from 'vitest';
import { deliveryOf } from '../src/index.js';
import { received } from './received.js';

const secret = TEST_SECRET;

describe('a gate', () => {
  it('does not touch the stream of a request whose bytes the host has kept', async () => {
    const { headers, rawBody } = signedDelivery({ secret });
    const req = Object.assign(received({ headers, rawBody }), { rawBody: Buffer.from(rawBody) });
    const read = vi.spyOn(req, 'read');
    expect(await createGate({ secret }).admit(deliveryOf(req), {}, req)).toBeUndefined();
    expect(webhookEvent(req)).toMatchObject({ reference: 'order-42' });
    expect(read).not.toHaveBeenCalled();
  });
});
