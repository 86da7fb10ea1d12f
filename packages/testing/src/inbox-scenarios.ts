/** Tests the contract of a store's inbox: `Inbox` of @paylink/payments. */
import assert from 'node:assert/strict';
import type { CreatedStore, Scenario } from './payment-store-suite.js';
import { newKey, runOptions, within } from './store-steps.js';

interface Facts {
  readonly key: string;
  readonly kind: string;
  readonly reference: string;
  readonly tenant: string | undefined;
  readonly code: string;
}

interface Failed extends Facts {
  readonly rawBody: Uint8Array;
}

interface Kept extends Facts {
  readonly attempts: number;
  readonly firstFailedAt: Date;
  readonly lastFailedAt: Date;
  readonly size: number;
}

/** `Inbox` of @paylink/payments. */
export interface InboxUnderTest {
  keep(failed: Failed): Promise<void>;
  discard(key: string): Promise<void>;
  list(options?: {
    readonly limit?: number | undefined;
    readonly after?: Pick<Kept, 'key' | 'firstFailedAt'> | undefined;
  }): Promise<readonly Kept[]>;
  get(key: string): Promise<(Kept & Pick<Failed, 'rawBody'>) | undefined>;
  forget(options: { readonly olderThan: Date }): Promise<number>;
}

export const inInboxes: Readonly<Record<string, Scenario>> = {
  async 'keeps a failed delivery with every fact and byte'(created) {
    const inbox = inboxOf(created);
    const rawBody = new Uint8Array([0, 39, 92, 195, 169, 255, 10]);
    const more = { tenant: `o'brien "é" \\ 🧺`, rawBody };
    const failed = failedDelivery(more);
    await within('keep', inbox.keep(failed));
    const found = await within('get', inbox.get(failed.key));
    assert.ok(found, 'get must find a kept delivery');
    const { rawBody: body, firstFailedAt, lastFailedAt, ...facts } = found;
    assert.deepEqual([...body], [...rawBody], 'the inbox must return the body byte for byte');
    assert.ok(firstFailedAt instanceof Date && lastFailedAt instanceof Date);
    const { rawBody: _, ...kept } = failed;
    assert.deepEqual({ ...facts }, { ...kept, attempts: 1, size: rawBody.length });
    const listed = (await all(inbox)).find(({ key }) => key === failed.key);
    assert.deepEqual({ ...listed }, { ...facts, firstFailedAt, lastFailedAt });
  },

  async 'keeps many failures of one key as one delivery, and counts the attempts'(created) {
    const inbox = inboxOf(created);
    const failed = failedDelivery();
    const flood = Array.from({ length: 50 }, () => inbox.keep(failed));
    await within('50 deliveries of one key', Promise.all(flood));
    await within('keep', inbox.keep({ ...failed, code: 'the_last' }));
    const listed = (await all(inbox)).filter(({ key }) => key === failed.key);
    assert.deepEqual(
      listed.map(({ attempts, code }) => ({ attempts, code })),
      [{ attempts: 51, code: 'the_last' }],
    );
  },

  async 'lists a delivery until work of its key succeeds'(created) {
    const { store } = created;
    const inbox = inboxOf(created);
    const { key, ...failed } = failedDelivery();
    await within('keep', inbox.keep({ key, ...failed }));
    const fail = (): Promise<void> => Promise.reject(new Error('the work threw'));
    const failing = store.run(key, fail, runOptions(key)).catch(() => undefined);
    await within('a run that fails', failing);
    assert.ok(await inbox.get(key), 'the delivery must stay in the inbox after work that threw');
    const succeeding = store.run(key, () => Promise.resolve(), runOptions(key));
    assert.equal(await within('a run', succeeding), 'done');
    assert.equal(await inbox.get(key), undefined, 'get must not find a delivery that succeeded');
    const listed = (await all(inbox)).filter((delivery) => delivery.key === key);
    assert.deepEqual(listed, [], 'list must leave out a delivery that succeeded');
  },

  async 'lists each delivery once across pages of any length, oldest first'(created) {
    const inbox = inboxOf(created);
    const kept = Array.from({ length: 5 }, () => failedDelivery());
    for (const failed of kept) await within('keep', inbox.keep(failed));
    const mine = new Set(kept.map(({ key }) => key));
    for (const limit of [1, 2, 5]) {
      const listed = (await all(inbox, limit)).filter(({ key }) => mine.has(key));
      assert.deepEqual(listed.map(({ key }) => key).sort(), [...mine].sort());
      const times = listed.map(({ firstFailedAt }) => firstFailedAt.getTime());
      assert.deepEqual(
        times,
        [...times].sort((a, b) => a - b),
      );
    }
  },

  async 'discards one delivery and forgets only older ones'(created) {
    const inbox = inboxOf(created);
    const [first, second] = [failedDelivery(), failedDelivery()];
    await within('keep', Promise.all([inbox.keep(first), inbox.keep(second)]));
    await within('discard', inbox.discard(first.key));
    assert.equal(await inbox.get(first.key), undefined, 'get must not find a discarded delivery');
    const olderThan = new Date(Date.now() - 365 * 86_400_000);
    await within('forget', inbox.forget({ olderThan }));
    assert.ok(await inbox.get(second.key), 'forget must keep the other delivery');
  },
};

function inboxOf<Tx>({ store: { inbox } }: CreatedStore<Tx>): InboxUnderTest {
  assert.ok(inbox, 'the store must have an `inbox`');
  return inbox;
}

function failedDelivery(more: Partial<Failed> = {}): Failed {
  const key = newKey();
  const rawBody = new TextEncoder().encode(`{"reference":"${key}"}`);
  const facts = { kind: 'payment.succeeded', reference: key, tenant: undefined };
  return { key, ...facts, rawBody, code: 'handler_failed', ...more };
}

async function all(inbox: InboxUnderTest, limit = 100): Promise<readonly Kept[]> {
  const listed: Kept[] = [];
  let page = await within('list', inbox.list({ limit }));
  while (page.length > 0) {
    listed.push(...page);
    page = await within('list', inbox.list({ limit, after: page.at(-1) }));
  }
  return listed;
}
