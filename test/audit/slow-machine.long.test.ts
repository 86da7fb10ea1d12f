/** A slow machine is not a fault of the receiver. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { auditReceiver } from '../../packages/cli/src/audit/audit-receiver.js';
import { describe, expect, it } from 'vitest';
import { holdLimits } from '../adapters/held-limits.js';
import { BODY_LIMIT, SECRET, listen, receiver, serve } from './hand-written.js';

/** Milliseconds that an audit waits for an answer. */
const PATIENCE = 5_000;
const options = { secret: SECRET, bodyLimit: BODY_LIMIT, timeout: 4_000 };

const isLong = ({ headers }: IncomingMessage): boolean =>
  Number(headers['content-length'] ?? 0) > 10_000;

describe('auditReceiver', () => {
  it('reports no finding for late answers in the order of requests', async () => {
    using limits = holdLimits(PATIENCE);
    let waiting = (): void => undefined;
    let [count, late] = [0, 0];
    const url = await serve((req: IncomingMessage, res: ServerResponse) => {
      waiting();
      waiting = () => undefined;
      // A slow sender has no answer that could be late.
      if (isLong(req) || ++count % 20 !== 0) return receiver()(req, res);
      waiting = () => receiver()(req, res);
      late += 1;
      void limits.running(PATIENCE, 1).then(() => limits.pass(PATIENCE));
    });
    const { findings, notes, complete } = await auditReceiver({ ...options, url });
    expect({ findings, notes, complete }).toEqual({ findings: [], notes: [], complete: true });
    expect(late).toBeGreaterThan(10);
  });

  it('sends a delivery again if a busy receiver answers 408', async () => {
    let count = 0;
    const { url, close } = await listen((req, res) => {
      if (++count % 10 === 0) res.writeHead(408, { connection: 'close' }).end();
      else receiver()(req, res);
    });
    const { findings, complete } = await auditReceiver({ ...options, url });
    await close();
    expect({ findings, complete }).toEqual({ findings: [], complete: true });
  });
});
