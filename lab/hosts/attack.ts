/** Attacks a host with the merchants' kit and with the probes of these projects. */
import { auditReceiver } from '../../packages/cli/src/audit/audit-receiver.js';
import { closeWires } from '../../packages/testing/src/wire.js';
import { hostProbes, type Target } from './probes.js';

export interface Tried {
  /** The row of the table of attacks. */
  readonly id: string;
  readonly what: string;
  /** The fault, if any. */
  readonly found?: string;
}

/** The webhook secret of every project. */
export const SECRET = 'a-secret-of-the-portal';

/** The order of the audit's genuine deliveries, a hundred of them at once. */
const ORDER = 'host-order';

/** Rows in which an audit allows refusals. Paylink answers 200 to all of them. */
const LEFT_OPEN = ['C03', 'C18', 'C21', 'D20', 'E08'];

export async function attackHost(target: Target): Promise<Tried[]> {
  const { url, secret, books } = target;
  books.add(ORDER);
  const report = await auditReceiver({
    url,
    secret,
    reference: ORDER,
    bodyLimit: 65_536,
    timeout: 8_000,
  });
  const tried: Tried[] = report.results
    .filter(({ skipped }) => skipped === undefined)
    // A check of all replies together is not an attack, so its name is the check.
    .map(
      ({ id, name, what = name.slice(`${id} `.length), passed, actual, title, detail, note }) => {
        if (passed && note === undefined && (actual === 200 || !LEFT_OPEN.includes(id)))
          return { id, what };
        return {
          id,
          what,
          found: [title ?? note, detail].filter((part) => part !== undefined).join(': '),
        };
      },
    );
  if (!report.complete) {
    tried.push({
      id: 'audit',
      what: 'the whole audit',
      found: report.stopped?.message ?? report.notJudged.join('; '),
    });
  }
  const credits = books.credits(ORDER);
  tried.push({
    id: 'H02',
    what: 'all genuine deliveries of the audit, which credit once',
    ...(credits === 1 ? {} : { found: `credited ${credits} times` }),
  });
  for (const { id, what, find } of hostProbes) {
    const found = await find(target).catch((error: unknown) => (error as Error).message);
    tried.push({ id, what, ...(found === undefined ? {} : { found }) });
  }
  closeWires();
  return tried;
}
