import { afterEach, describe, expect, it, vi } from 'vitest';
import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { signedDelivery, TEST_SECRET as secret } from '@paylink/testing';
import { paymentWebhook } from '../src/index.js';
import { endOfTurn } from '../src/turn.js';

afterEach(() => {
  vi.useRealTimers();
});

describe('the end of a turn', () => {
  it('is one promise for all that wait in a turn, and another one in the next', async () => {
    const first = endOfTurn();
    expect(endOfTurn()).toBe(first);
    await first;
    expect(endOfTurn()).not.toBe(first);
  });

  it('comes under fake timers too: a delivery is answered', { tags: 'P17' }, async () => {
    const webhook = paymentWebhook({ secret }, () => Promise.resolve());
    const server = createServer((req, res) => void webhook(req, res)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    vi.useFakeTimers();
    const { port } = server.address() as AddressInfo;
    const { status } = await signedDelivery({ secret }).send(`http://127.0.0.1:${port}/`);
    expect(status).toBe(200);
    server.closeAllConnections();
    server.close();
  });
});
