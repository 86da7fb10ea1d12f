import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { describe } from 'vitest';
import { testServer } from '../../server-suite.js';
import { createApp } from '../src/server.js';

describe('the example on Koa', () => {
  testServer(async (options) => {
    const server = createApp(options).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhooks/payments`;
    return { url, close: () => once(server.close(), 'close') };
  });
});
