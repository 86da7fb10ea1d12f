import { describe, expect, it } from 'vitest';
import { testServer } from '../../server-suite.js';
import { createApp } from '../src/server.js';

describe('the example on Fastify', () => {
  let origin: string;
  testServer(async (options) => {
    const app = await createApp(options);
    origin = await app.listen({ port: 0, host: '127.0.0.1' });
    return { url: `${origin}/webhooks/payments`, close: () => app.close() };
  });

  it('leaves the JSON parser to the routes beside it', async () => {
    const headers = { 'content-type': 'application/json' };
    const body = '{"parsed":true}';
    const response = await fetch(`${origin}/echo`, { method: 'POST', headers, body });
    expect(await response.json()).toEqual({ parsed: true });
  });
});
