import { ConfigurationError } from '@paylink/core';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createClient } from '../src/index.js';
import { API_KEY, failure } from './raw-server.js';

const good = { baseUrl: 'https://service.example/api', apiKey: API_KEY };

function configurationFault(make: () => unknown): ConfigurationError {
  try {
    make();
  } catch (error) {
    if (error instanceof ConfigurationError) return error;
  }
  throw new Error('no ConfigurationError');
}

describe('createClient', () => {
  it.each([
    'https://service.example/api',
    'https://service.example/api/',
    'https://service.example:8443/a/b',
    'http://127.8.9.10/api',
    'http://127.100.200.250/api',
    'http://localhost:4000/api',
    'http://[::1]:4000/api',
  ])('accepts the address %s', (baseUrl) => {
    expect(() => createClient({ ...good, baseUrl })).not.toThrow();
  });

  it.each([
    'https://service.example/api',
    'https://service.example/api/',
    'https://service.example/api//',
  ])('sends requests below the address %s', async (baseUrl) => {
    const fetch = vi.fn(() => Promise.reject(new Error('no network')));
    await failure(createClient({ ...good, baseUrl, fetch, retries: 0 }).getPayment('order-1'));
    expect(fetch).toHaveBeenCalledExactlyOnceWith(
      'https://service.example/api/v1/payments/order-1',
      expect.anything(),
    );
  });

  it('calls the global fetch of the moment, which a host or a test may replace', async () => {
    const client = createClient({ ...good, retries: 0 });
    const fetch = vi.fn(() => Promise.reject(new Error('no network')));
    vi.stubGlobal('fetch', fetch);
    await failure(client.getPayment('order-1')).finally(() => vi.unstubAllGlobals());
    expect(fetch).toHaveBeenCalledOnce();
  });

  it.each([
    'http://service.example/api',
    'http://10.0.0.1/api',
    'http://127.0.0.1.evil.example/api',
    'http://evil.example#@localhost/api',
    'http://[::ffff:8.8.8.8]/api',
    'http://128.0.0.1/api',
    'ftp://service.example/api',
  ])('rejects %s, which would send the API key unencrypted', { tags: 'L08' }, (baseUrl) => {
    expect(configurationFault(() => createClient({ ...good, baseUrl })).option).toBe('baseUrl');
  });

  it('allows http only to hosts in allowHttp, and never in production', { tags: 'L08' }, () => {
    const make = (baseUrl: string, allowHttp?: readonly string[]) => () =>
      createClient({ ...good, baseUrl, allowHttp });
    const emulator = 'http://emulator:4010/api';
    expect(make(emulator, ['emulator'])).not.toThrow();
    expect(make('http://10.0.0.1/api', ['10.0.0.1'])).not.toThrow();
    expect(configurationFault(make(emulator)).message).toMatch(/outside production.*allowHttp/);
    expect(configurationFault(make(emulator, ['emu', 'emulator.example'])).option).toBe('baseUrl');
    expect(configurationFault(make('ftp://emulator/api', ['emulator'])).option).toBe('baseUrl');
    vi.stubEnv('NODE_ENV', 'production');
    onTestFinished(() => void vi.unstubAllEnvs());
    expect(configurationFault(make(emulator, ['emulator'])).message).toMatch(/https in production/);
    expect(make(good.baseUrl, ['emulator'])).not.toThrow();
    expect(make('http://127.0.0.1:4010/api', ['emulator'])).not.toThrow();
  });

  it.each([
    ['emulator'],
    [[42]],
    [['']],
    [['emulator:4010']],
    [['http://emulator']],
    [['EMULATOR']],
    [['emulator/']],
  ])('rejects %j as allowHttp', (allowHttp) => {
    const options = { ...good, allowHttp: allowHttp as string[] };
    expect(configurationFault(() => createClient(options)).option).toBe('allowHttp');
  });

  it.each([
    [undefined, /missing.*environment/],
    ['', /missing/],
    [null, /missing/],
    [42, /string/],
    ['service.example/api', /absolute URL/],
    ['javascript:go("https://service.example")', /absolute URL/],
    ['https://user:hunter2@service.example/api', /user or a password/],
    ['https://service.example/api?x=1', /query/],
    ['https://service.example/api#x', /fragment/],
    ['https://service.example/api\n', /start or end with whitespace/],
    ['https://service.example/api/v1/', /before \/v1/],
  ])('rejects the address %j, and names the fix', (baseUrl, message) => {
    const error = configurationFault(() => createClient({ ...good, baseUrl: baseUrl as string }));
    expect([error.option, error.code]).toEqual(['baseUrl', 'misconfigured']);
    expect(error.message).toMatch(message);
    expect(error.message).not.toContain('hunter2');
  });

  it.each([
    [undefined, /missing.*environment/],
    [null, /missing/],
    ['', /missing/],
    ['  ', /is blank/],
    [42, /string/],
    [`${API_KEY}\n`, /start or end with whitespace/],
    [`Bearer ${API_KEY}`, /only the key/],
    ['whsec_of_the_portal_0123456789abcdef', /webhook secret/],
    ['sk_live_id42', /copy the whole key/],
    ['sk_live_id42.sécret', /copy the whole key/],
    ['sk_live_id42.secret\r\nX-Other: 1', /copy the whole key/],
  ])('rejects the API key %j, and never quotes it', (apiKey, message) => {
    const error = configurationFault(() => createClient({ ...good, apiKey: apiKey as string }));
    expect(error.option).toBe('apiKey');
    expect(error.message).toMatch(message);
    expect(error.message).not.toMatch(/id42|whsec/);
  });

  it('accepts keys of another kind than live, because the contract leaves them open', () => {
    expect(() => createClient({ ...good, apiKey: 'sk_test_id42.secret' })).not.toThrow();
  });

  it.each([
    ['authentication', 'basic'],
    ['fetch', 'fetch'],
    ['timeout', 1.5],
    ['timeout', 2 ** 31],
    ['timeout', '100'],
    ['retries', 4],
    ['totalTimeout', 0],
    ['apikey', API_KEY],
    ['baseURL', 'https://service.example'],
  ])('rejects the option %s: %j', (option, value) => {
    const error = configurationFault(() => createClient({ ...good, [option]: value }));
    expect(error.option).toBe(option);
  });

  it('rejects invalid options, also the options of a call', async () => {
    expect(configurationFault(() => createClient(undefined as never)).option).toBe('options');
    const client = createClient(good);
    const link = { amount: 1, reference: 'r' };
    const misspelt = client.createPaymentLink(link, { idempotencykey: 'k' } as object);
    expect(await failure(misspelt)).toMatchObject({ option: 'idempotencykey' });
    const listener = { addEventListener: () => undefined };
    for (const signal of [{}, { aborted: false }, listener, null, 'abort']) {
      const creation = client.createPaymentLink(link, { signal: signal as AbortSignal });
      expect(await failure(creation)).toMatchObject({ option: 'signal' });
    }
    expect(await failure(client.getPayment('r', 0 as never))).toMatchObject({ option: 'options' });
  });
});
