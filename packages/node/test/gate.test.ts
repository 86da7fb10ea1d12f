import { webhookEvent } from '@paylink/core';
import { signedDelivery, TEST_SECRET } from '@paylink/testing';
import { describe, expect, it, vi } from 'vitest';
import { createGate } from '../src/index.js';
import { received } from './received.js';

const secret = TEST_SECRET;
const genuine = () => received(signedDelivery({ secret }));
const misconfigured = { code: 'misconfigured', option: 'webhookEvent' };

describe('a gate', () => {
  it('lets a genuine request go on, and keeps its event', async () => {
    const req = genuine();
    expect(await createGate({ secret }, '')(req, {})).toBeUndefined();
    expect(webhookEvent(req)).toMatchObject({ type: 'payment.succeeded', reference: 'order-42' });
    expect(req.readableEnded).toBe(true);
  });

  it('does not touch the stream of a request whose bytes the host has kept', async () => {
    const { headers, rawBody } = signedDelivery({ secret });
    const req = Object.assign(received({ headers, rawBody }), { rawBody: Buffer.from(rawBody) });
    const read = vi.spyOn(req, 'read');
    expect(await createGate({ secret }, '')(req, {})).toBeUndefined();
    expect(webhookEvent(req)).toMatchObject({ reference: 'order-42' });
    expect(read).not.toHaveBeenCalled();
  });

  it('returns the reply to a forged request, and keeps no event', async () => {
    const gate = createGate({ secret, logger: { warn: vi.fn(), error: vi.fn() } }, '');
    const req = received(signedDelivery({ secret: 'a-secret-of-a-stranger' }));
    expect(await gate(req, {})).toMatchObject({
      status: 401,
      body: '{"error":"invalid_signature"}',
    });
    expect(() => webhookEvent(req)).toThrow(expect.objectContaining(misconfigured));
  });

  it('gives the host to the function that chooses the secret', async () => {
    const choose = vi.fn(() => ({ secret, tenant: 'acme' }));
    const host = { id: 'of the host' };
    const req = genuine();
    await createGate({ secret: choose }, '')(req, host);
    expect(choose).toHaveBeenCalledExactlyOnceWith(host);
    expect(webhookEvent(req).tenant).toBe('acme');
  });

  it('logs the hint if something has read the body', async () => {
    const logger = { warn: vi.fn(), error: vi.fn() };
    const gate = createGate({ secret, logger }, 'Move the webhook up.');
    const reply = await gate(genuine().setEncoding('utf8'), {});
    expect(reply).toMatchObject({ status: 500, body: '{"error":"body_consumed"}' });
    const line = expect.stringContaining('Move the webhook up.') as string;
    expect(logger.error).toHaveBeenCalledExactlyOnceWith(
      line,
      expect.objectContaining({ code: 'body_consumed' }),
    );
  });
});
