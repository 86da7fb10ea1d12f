import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { deliveryOf } from '../src/index.js';

function requestWith(fields: {
  readonly rawHeaders?: string[];
  readonly headers?: object;
}): IncomingMessage {
  return Object.assign(new IncomingMessage(new Socket()), { method: 'PUT' }, fields);
}

describe('the delivery of a request', () => {
  it('has its method', () => {
    expect(deliveryOf(requestWith({})).method).toBe('PUT');
  });

  it('has every line of a header in any case, and no line of another header', () => {
    const lines = [
      ['X-Event', 'one'],
      ['x-tnvee', 'another'],
      ['Host', 'shop.example'],
      ['x-EVENT', 'two'],
      ['X-Events', 'longer'],
    ];
    const rawHeaders = lines.flat();
    const { header } = deliveryOf(requestWith({ rawHeaders, headers: { 'x-event': 'one' } }));
    expect([header('x-event'), header('host'), header('x-none')]).toEqual([
      'one, two',
      'shop.example',
      undefined,
    ]);
  });

  it('reads header lines as received, and ignores changes by middleware', () => {
    const req = requestWith({
      rawHeaders: ['Content-Encoding', 'gzip'],
      headers: { 'x-event': 'set by middleware' },
    });
    const { header } = deliveryOf(req);
    expect([header('content-encoding'), header('x-event')]).toEqual(['gzip', undefined]);
  });

  it.each([[[]], [undefined]])(
    'has the headers of a request that a layer in between has made, with %j lines',
    (rawHeaders) => {
      const headers = { 'x-event': 'one', 'set-cookie': ['a', 'b'] };
      const { header } = deliveryOf(requestWith({ rawHeaders: rawHeaders as string[], headers }));
      // A list is a repeated header: it is not believed.
      expect([header('x-event'), header('set-cookie'), header('x-none')]).toEqual([
        'one',
        undefined,
        undefined,
      ]);
    },
  );
});
