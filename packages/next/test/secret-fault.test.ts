import { ConfigurationError } from '@paylink/core';
import { describe, expect, it, vi } from 'vitest';
import { SecretFault } from '../src/secret-fault.js';

function faulty() {
  const logger = { warn: vi.fn(), error: vi.fn<(line: string) => void>() };
  const fault = SecretFault.or({ logger }, () => {
    throw new ConfigurationError('secret', 'is missing.');
  });
  return { logger, fault };
}

describe('a secret at fault', () => {
  it.each([undefined, '//[', 'http://:'])('is logged without a path where the request has none that can be read: %j', (url) => {
    const { logger, fault } = faulty();
    expect(fault.reply(url, (path) => `pages${path}`)).toMatchObject({ status: 500, body: '{"error":"misconfigured"}' });
    const line = '[paylink] 500 misconfigured: secret is missing. See docs/errors.md#misconfigured';
    expect(logger.error).toHaveBeenCalledExactlyOnceWith(line);
  });

  it('is logged with the path of the first request, and its file', () => {
    const { logger, fault } = faulty();
    for (const url of ['/api/first?a=1', '/api/second']) fault.reply(url, (path) => `pages${path}`);
    expect(logger.error).toHaveBeenCalledExactlyOnceWith(
      expect.stringContaining('The route of /api/first (pages/api/first) reads it'),
    );
  });

  it('is logged on the console where there are no options', () => {
    const logged = vi.spyOn(console, 'error').mockReturnValue(undefined);
    const fault = SecretFault.or(undefined, () => {
      throw new ConfigurationError('secret', 'is missing.');
    });
    expect(fault.reply(undefined, String)).toMatchObject({ status: 500 });
    expect(logged).toHaveBeenCalledOnce();
    logged.mockRestore();
  });
});
