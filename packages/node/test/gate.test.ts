import { ConfigurationError } from '@paylink/core';
import { signedDelivery, TEST_SECRET } from '@paylink/testing';
import { describe, expect, it, vi } from 'vitest';
import { createGate, provenEvent, webhookEvent } from '../src/index.js';
import { received } from './received.js';

const secret = TEST_SECRET;
const genuine = () => received(signedDelivery({ secret }));
const misconfigured = expect.objectContaining({ code: 'misconfigured', option: 'webhookEvent' }) as unknown;

function thrownBy(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    return error;
  }
}

describe('a gate', () => {
  it('lets a genuine request go on, and gives its event by every way', async () => {
    const gate = createGate({ secret }, '');
    const req = genuine();
    expect(await gate.admit(req, {})).toBeUndefined();
    for (const event of [gate.event(req), provenEvent(req), webhookEvent(req)]) {
      expect(event).toMatchObject({ type: 'payment.succeeded', reference: 'order-42' });
    }
  });

  it('lets no parser behind it wait for what it has read', async () => {
    const req = genuine();
    await createGate({ secret }, '').admit(req, {});
    expect(req.readableEnded).toBe(true);
  });

  it('does not touch the stream of a request whose body the host has kept', async () => {
    const { headers, rawBody } = signedDelivery({ secret });
    const req = Object.assign(received({ headers, rawBody }), { rawBody: Buffer.from(rawBody) });
    const read = vi.spyOn(req, 'read');
    const gate = createGate({ secret }, '');
    expect(await gate.admit(req, {})).toBeUndefined();
    expect(gate.event(req)).toMatchObject({ reference: 'order-42' });
    expect(read).not.toHaveBeenCalled();
  });

  it('gives the reply to write to a forged request, and proves nothing of it', async () => {
    const gate = createGate({ secret, logger: { warn: vi.fn(), error: vi.fn() } }, '');
    const req = received(signedDelivery({ secret: 'a-secret-of-a-stranger' }));
    expect(await gate.admit(req, {})).toMatchObject({ status: 401, body: '{"error":"invalid_signature"}' });
    expect(provenEvent(req)).toBeUndefined();
    for (const ask of [() => gate.event(req), () => webhookEvent(req)]) expect(thrownBy(ask)).toEqual(misconfigured);
  });

  it('gives no event of a request that another gate has proved, or none', async () => {
    const [gate, other] = [createGate({ secret }, ''), createGate({ secret }, '')];
    const req = genuine();
    await other.admit(req, {});
    expect(() => gate.event(req)).toThrow(ConfigurationError);
    expect(() => webhookEvent(genuine())).toThrow(ConfigurationError);
  });

  it('hands the host to what chooses the secret', async () => {
    const choose = vi.fn(() => secret);
    const host = { tenant: 'acme' };
    await createGate({ secret: choose }, '').admit(genuine(), host);
    expect(choose).toHaveBeenCalledExactlyOnceWith(expect.objectContaining(host));
  });

  it.each([
    ['gate.event', (gate, req) => gate.event(req)],
    ['webhookEvent', (_gate, req) => webhookEvent(req)],
    ['provenEvent', (_gate, req) => provenEvent(req)],
  ] as const satisfies readonly (readonly [
    string,
    (gate: ReturnType<typeof createGate>, req: ReturnType<typeof genuine>) => unknown,
  ])[])('is unused until an event is read by %s', async (_how, read) => {
    const gate = createGate({ secret }, '');
    const req = genuine();
    await gate.admit(req, {});
    expect(gate.isUnused()).toBe(true);
    read(gate, req);
    expect(gate.isUnused()).toBe(false);
  });

  it('is used also where what read it was not behind it: something stands there', () => {
    const gate = createGate({ secret }, '');
    thrownBy(() => gate.event(genuine()));
    expect(gate.isUnused()).toBe(false);
  });

  it('warns of an event without an answer, and says the hint where something has read the body', async () => {
    const logger = { warn: vi.fn(), error: vi.fn() };
    const gate = createGate({ secret, logger }, 'Move the webhook up.');
    gate.warnUnanswered();
    expect(logger.warn).toHaveBeenCalledExactlyOnceWith(expect.stringContaining('nothing stands behind the gate'));
    const req = genuine();
    req.setEncoding('utf8');
    expect(await gate.admit(req, {})).toMatchObject({ status: 500, body: '{"error":"body_consumed"}' });
    expect(logger.error).toHaveBeenCalledExactlyOnceWith(expect.stringContaining('Move the webhook up.'));
  });
});
