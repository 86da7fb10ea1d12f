/** One run of a cron job, in a process of its own: told what is unpaid and the stored cursor, it answers with its report. */
import { memoryStore } from '@paylink/core';
import { createClient, reconcile } from '../src/index.js';

interface Run {
  readonly baseUrl: string;
  readonly unpaid: string[];
  readonly cursor: string | undefined;
  readonly deadline: number;
}

process.once('message', ({ baseUrl, unpaid, cursor, deadline }: Run) => {
  void reconcile({
    client: createClient({ baseUrl, apiKey: 'sk_live_cron.the-secret-part-of-it' }),
    references: unpaid,
    idempotency: memoryStore(),
    onSuccess: () => undefined,
    deadline,
    cursor,
  }).then((report) => {
    process.send!(report);
    process.disconnect();
  });
});
process.send!('ready');
