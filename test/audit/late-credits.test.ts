/** A receiver that answers when its queue has the message, and credits later. */
import type { AuditReport } from '@paylink/testing';
import { describe, expect, it } from 'vitest';
import { BODY_LIMIT, SECRET, receiver, serve } from './hand-written.js';
import { ORDERS, queueing } from './merchant-books.js';
import { auditInVirtualTime } from './virtual-time.js';

/** The audit asks every 50 ms, so the credit follows after 2 s. */
const QUESTIONS = 40;

/** Audits a queue up to the first attack after the credit verdict. */
async function audit(more: { readonly settle?: number }): Promise<AuditReport> {
  const { credit, credits } = queueing(QUESTIONS);
  const url = await serve(receiver({ credit }));
  const enough = new AbortController();
  const onResult = ({ id }: { readonly id: string }): void => {
    if (id.startsWith('A')) enough.abort();
  };
  const options = {
    url,
    secret: SECRET,
    bodyLimit: BODY_LIMIT,
    reference: ORDERS,
    credits,
    stop: enough.signal,
    onResult,
  };
  try {
    return await auditInVirtualTime({ ...options, ...more });
  } finally {
  }
}

describe('auditReceiver', () => {
  it('waits for the credits of a queue as long as `settle`', async () => {
    const { findings, notJudged, stopped, results } = await audit({ settle: 4_000 });
    expect(findings).toEqual([]);
    expect(notJudged).toEqual([]);
    expect(stopped).toMatchObject({ reason: 'interrupted' });
    const judged = results.filter(({ name }) => /^\w+ (does not )?credit/.test(name));
    expect(judged.length).toBeGreaterThan(10);
  });

  it('suggests a longer `settle` if no credit came in time', async () => {
    const { causes, stopped } = await audit({});
    expect(causes.map(({ id }) => id)).toEqual(['loses_credit']);
    expect(stopped).toMatchObject({ reason: 'unknown_reference' });
    expect(stopped?.message).toMatch(/did not credit.*later than 600 ms/);
  });
});
