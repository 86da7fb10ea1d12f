import { WebhookError } from '@paylink/core';
import { describe, expect, it, vi } from 'vitest';
import { post } from './deliveries.js';
import { handlerHosts, hosts } from './hosts/index.js';
import { expectRefused, serve } from './serving.js';
import { exchange } from './wire.js';

/** The default logger is `console`, which throws if its stream is gone. */
function brokenConsole(level: 'warn' | 'error') {
  return vi.spyOn(console, level).mockImplementation(() => {
    throw new Error('the log is full');
  });
}

describe.each(hosts)('$name', (host) => {
  it('answers a forged request with 401 if the logger throws', async () => {
    const { port, events } = await serve(host);
    const warn = brokenConsole('warn');
    expectRefused(
      await exchange(port, post(undefined, { signature: '0'.repeat(64) })),
      401,
      'invalid_signature',
    );
    expect(warn).toHaveBeenCalled();
    warn.mockImplementation(() => undefined);
    expect(events).toEqual([]);
  });
});

describe.each(handlerHosts)('$name', (host) => {
  it('answers 503 if the handler refuses and the logger throws', async () => {
    const { port, errors } = await serve(host, {
      handler: () => {
        throw new WebhookError('confirm_unavailable');
      },
    });
    const error = brokenConsole('error');
    expectRefused(await exchange(port, post()), 503, 'confirm_unavailable');
    expect(error).toHaveBeenCalled();
    error.mockImplementation(() => undefined);
    expect(errors).toEqual([]);
  });
});
