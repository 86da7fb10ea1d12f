import { describe, expect, it } from 'vitest';
import { createDispatcher, createReceiver, memoryStore } from '../src/index.js';
import { deliver, received, secret } from './deliver.js';

describe('options', () => {
  it.each([
    ['bodyLimit', 0],
    ['bodyLimit', -1],
    ['bodyLimit', 1.5],
    ['bodyLimit', Number.NaN],
    ['bodyLimit', Infinity],
    ['bodyLimit', '64kb'],
    ['bodyLimit', null],
    ['bodyTimeout', 0],
    ['bodyTimeout', 2 ** 31],
    ['handlerTimeout', '25s'],
    ['observe', 'console'],
    ['confirm', {}],
    ['confirm', null],
    ['confirm', 'https://service.example'],
    ['events', null],
    ['events', []],
    ['headers', null],
    ['headers', { signature: null }],
    ['headers', { event: 42 }],
    ['idempotancy', memoryStore()],
    ['unrecognized', 'pass'],
  ])('%s: %j throws at set-up and names the option', (option, value) => {
    expect(() => createReceiver({ secret, [option]: value }, () => undefined)).toThrow(new RegExp(`^${option} `));
  });

  it.each([
    ['bodyLimit', 1_000],
    ['bodyTimeout', 1],
    ['bodyTimeout', 2 ** 31 - 1],
  ])('%s may be %i', async (option, value) => {
    expect(await createReceiver({ secret, [option]: value }, () => undefined).receive(deliver(), {})).toMatchObject(received);
  });

  it('that are unknown and undefined are left alone, as of a spread', async () => {
    const more = { retries: undefined };
    expect(await createReceiver({ secret, ...more }, () => undefined).receive(deliver(), {})).toMatchObject(received);
  });

  it.each([undefined, null, 'a-secret', () => undefined])('%j in their place throws at set-up', (options) => {
    for (const make of [
      () => createReceiver(options as never, () => undefined),
      () => createReceiver(options as never),
      () => createDispatcher(options as never, () => undefined),
    ]) {
      expect(make).toThrow('options must be an object');
    }
  });

  it("of a gate have no `unrecognized` but 'pass'", () => {
    expect(() => createReceiver({ secret, unrecognized: 'ignore' as 'pass' })).toThrow("unrecognized must be 'pass'");
  });

  it('of a receiver, a gate and a dispatcher are listed where one is misspelt', () => {
    const common = 'secret, events, headers, logger, bodyLimit, bodyTimeout, observe';
    const handling = 'confirm, idempotency, tenant, handlerTimeout';
    const misspelt = { secret, sekret: 'x' };
    expect(() => createReceiver(misspelt, () => undefined)).toThrow(
      `sekret is an unknown option. Valid options: ${common}, ${handling}`,
    );
    expect(() => createReceiver(misspelt)).toThrow(`sekret is an unknown option. Valid options: ${common}, unrecognized`);
    expect(() => createDispatcher({ observ: 1 } as never, () => undefined)).toThrow(
      `observ is an unknown option. Valid options: events, ${handling}, observe, logger`,
    );
  });

  it('that are undefined have their defaults', async () => {
    const receiver = createReceiver(
      {
        secret,
        bodyLimit: undefined,
        bodyTimeout: undefined,
        handlerTimeout: undefined,
        confirm: undefined,
        idempotency: undefined,
        observe: undefined,
        events: undefined,
        headers: undefined,
        logger: undefined,
      },
      () => undefined,
    );
    expect(await receiver.receive(deliver(), {})).toMatchObject(received);
  });
});
