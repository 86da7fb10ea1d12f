import { randomBytes } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { attacks } from '../attacks/index.js';
import { acknowledges, materialOf } from '../attacks/attack.js';
import { rawAttacks } from '../attacks/raw.js';
import { headerNames } from '../delivery-forms.js';
import type { WireAnswer } from '../wire.js';
import { attempt, StoppedServing } from './attempt.js';
import { booksOf, judgeCredits, watchNonsense } from './credits.js';
import { deliverFirst } from './first-delivery.js';
import { isAcknowledged, openSession, statusOf, type AuditSession } from './session.js';
import { leaks } from './leaks.js';
import { readOptions, type AuditOptions, type ReadOptions } from './options.js';
import { pooled } from './pool.js';
import { probeOf, probeOfRaw, type Probe } from './probe.js';
import { replyProbes } from './reply-probes.js';
import { reportOf, sorted, type AuditReport, type AuditResult, type AuditStop } from './report.js';
import { loadProbes, slowProbes } from './slow-probes.js';

/**
 * Attacks a running receiver over real sockets, and names its faults with their fixes. Sends forged
 * and broken deliveries and a few hundred genuine ones, so run it against test servers, never
 * against production.
 *
 * Stops within two seconds if the receiver refuses or does not answer the first genuine delivery,
 * and explains it in `stopped`. The report holds no secrets, no signatures, and only the status of
 * each reply.
 *
 * @throws TypeError for a wrong option, Error without a connection to the server, the error of
 *   `credits`, or the reason of `signal`
 */
export async function auditReceiver(options: AuditOptions): Promise<AuditReport> {
  const started = performance.now();
  const read = readOptions(options);
  const { url, secret, reference, bodyLimit = 65_536, sign, timeout, stop, signal } = read;
  const material = materialOf({
    secret,
    reference,
    bodyLimit,
    sign,
    names: headerNames(read.headers),
  });
  const over = new AbortController();
  const either = AbortSignal.any([signal, stop, over.signal].filter((each) => each !== undefined));
  // Each open connection adds a listener, and there are more than a hundred.
  setMaxListeners(0, either);
  const target = { url, timeout, signal: either };
  const session = openSession(target, material, read.requestHeaders ?? {});
  const audit = new Audit(read, session);
  let stopped: AuditStop | undefined;
  try {
    stopped = await audit.run();
  } catch (error) {
    if (signal?.aborted === true) throw signal.reason;
    if (error instanceof StoppedServing) {
      audit.results.push(error.result);
      stopped = {
        reason: 'stopped_serving',
        message: `The server ${error.result.title!}: nothing more could be tried.`,
      };
    } else if (stop?.aborted === true) {
      stopped = {
        reason: 'interrupted',
        message: 'The audit ended early, so this report is incomplete.',
      };
    } else throw error;
  } finally {
    // If one probe ends the audit, others still run. They must not report after the caller has its
    // report.
    over.abort();
  }
  const { results, notJudged } = audit;
  const replies = session.replies.map(({ reply }) => reply);
  return reportOf({
    url,
    results: [...results.slice(0, 1), ...sorted(results.slice(1))],
    replies,
    notJudged,
    stopped,
    started,
  });
}

class Audit {
  readonly results: AuditResult[] = [];
  readonly notJudged: string[] = [];
  readonly #options: ReadOptions;
  readonly #session: AuditSession;
  #total = 0;

  constructor(options: ReadOptions, session: AuditSession) {
    this.#options = options;
    this.#session = session;
  }

  /** @returns the reason if the audit ended early */
  async run(): Promise<AuditStop | undefined> {
    const { url, concurrency, reference, moreReferences, credits, firstAnswer, settle } =
      this.#options;
    const session = this.#session;
    const books = credits === undefined ? undefined : booksOf(credits);
    const probes = probesOf(this.#options);
    this.#total = 1 + probes.length + replyProbes.length + loadProbes.length + slowProbes.length;

    const before = (await books?.count(reference)) ?? 0;
    const nonsense = books && (await watchNonsense(books));
    const first = await deliverFirst(session, url, firstAnswer);
    first.results.forEach(this.#add);
    if (first.stop !== undefined) return first.stop;

    if (books === undefined) this.notJudged.push(...WITHOUT_CREDITS);
    else {
      const judged = await judgeCredits({
        session,
        books,
        references: moreReferences,
        before,
        settle,
        onResult: this.#add,
      });
      this.notJudged.push(...judged.notJudged);
      if (judged.stop !== undefined) return judged.stop;
    }
    await this.#askForUnknownOrder();
    await this.#try(probes, concurrency);
    await this.#try(replyProbes, 1);
    await this.#try(slowProbes, slowProbes.length);
    await this.#try(loadProbes, 1);
    for (const result of [
      ...leaks(session),
      ...((await nonsense?.()) ?? []),
      ...notTried(this.#options),
    ])
      this.#add(result);
    return undefined;
  }

  async #try(probes: readonly Probe[], concurrency: number): Promise<void> {
    const before = this.results.length;
    const underWay = new Set<Probe>();
    const results = await pooled(probes, concurrency, async (probe) => {
      underWay.add(probe);
      const result = await attempt(probe, this.#session);
      underWay.delete(probe);
      return this.#add(result);
    }).catch(async (error: unknown) => {
      throw error instanceof StoppedServing ? await this.#findCause(error, [...underWay]) : error;
    });
    // In the order of the probes, not of their ends, so that two audits of one receiver read alike.
    this.results.splice(before, results.length, ...results);
  }

  /** Retries the suspects one at a time if the server comes back, because several were running. */
  async #findCause(stopped: StoppedServing, suspects: readonly Probe[]): Promise<StoppedServing> {
    if (suspects.length < 2) return stopped;
    try {
      if (await this.#isBack()) for (const probe of suspects) await attempt(probe, this.#session);
    } catch (error) {
      if (error instanceof StoppedServing) return error;
      throw error;
    }
    const whats = suspects.map(({ what }) => what).join('; ');
    return new StoppedServing({
      ...stopped.result,
      id: 'H03',
      name: 'H03 keeps acknowledging genuine deliveries',
      what: whats,
      title: `stopped acknowledging genuine deliveries, and one of these was the cause: ${whats}`,
    });
  }

  /** Returns true if the server was started again. */
  async #isBack(): Promise<boolean> {
    const { serves, wait, throwIfEnded } = this.#session;
    for (let time = 0; time < 12; time++) {
      throwIfEnded();
      if (isAcknowledged(await serves().catch((): WireAnswer => 'closed'))) return true;
      await wait(250);
    }
    return false;
  }

  /**
   * Asks for an unknown order. A receiver that looks orders up may answer with any error, and
   * answers other unknown references alike.
   */
  async #askForUnknownOrder(): Promise<void> {
    const { material, request, genuineLines, exchange, unknownOrder } = this.#session;
    const reference = `${material.reference}-unknown-${randomBytes(4).toString('hex')}`;
    const body = Buffer.from(JSON.stringify({ reference }));
    const status = statusOf(
      await exchange(request(genuineLines(body), body)).catch((): WireAnswer => 'closed'),
    );
    if (status !== undefined && !acknowledges(status) && status !== 401 && status !== 403)
      unknownOrder.status = status;
  }

  readonly #add = (result: AuditResult): AuditResult => {
    this.results.push(result);
    this.#options.onResult?.(result);
    const done = this.results.length;
    this.#options.onProgress?.({ done, total: Math.max(done, this.#total), name: result.name });
    return result;
  };
}

const WITHOUT_CREDITS = [
  'whether an order is credited once: replays, duplicates at once, a retry after a lost reply',
  'whether a payment is lost: acknowledged and not credited',
  'whether anything else is credited: unknown orders, failed payments, other events',
];

function probesOf({ secret, reference, bodyLimit, headers, sign }: ReadOptions): Probe[] {
  const isKnown = (id: string): boolean =>
    bodyLimit !== undefined || (id !== 'D05' && id !== 'D03');
  // A contradiction counts only if the receiver credits it: see credits.ts.
  const kit = attacks({ secret, reference, bodyLimit, headers, sign, confirm: true }).filter(
    ({ id }) => isKnown(id),
  );
  const raw = rawAttacks.filter(({ fault }) => sign === undefined || fault !== 'several_spellings');
  return [...kit.map(probeOf), ...raw.map(probeOfRaw)];
}

/** Lists the probes that an audit cannot try, with reasons. */
function notTried({ bodyLimit, credits }: ReadOptions): AuditResult[] {
  const reasons: readonly (readonly [id: string, what: string, why: string | undefined])[] = [
    ['A20', 'refuses signatures that are not text', 'values of a program cannot be sent'],
    [
      'C24',
      'refuses a success whose signed body contradicts it',
      credits === undefined ? 'only its credit would be wrong' : undefined,
    ],
    [
      'D03',
      'refuses a body of twice the limit',
      bodyLimit === undefined ? 'no limit was named' : undefined,
    ],
    [
      'D05',
      'accepts exactly its limit, and not a byte more',
      bodyLimit === undefined ? 'no limit was named' : undefined,
    ],
    ['D22', 'holds over HTTP/2', 'the audit speaks HTTP/1.1'],
    [
      'D26',
      'is reached by its own route only',
      'which paths lead to the receiver is up to its router',
    ],
    [
      'E06',
      'credits no body that is relabelled as a success',
      'it looks genuine from outside: confirm each payment by the API',
    ],
    [
      'E07',
      'finds a success that was relabelled in transit',
      'a delivery does not show it: reconcile pending orders',
    ],
    [
      'H04',
      'credits once for two bodies of one reference',
      credits === undefined ? 'credits are not seen from outside' : undefined,
    ],
  ];
  return reasons.flatMap(([id, what, why]) => {
    if (why === undefined) return [];
    const result = {
      id,
      name: `${id} ${what}`,
      passed: true,
      skipped: why,
      expected: [],
      actual: undefined,
    };
    return [{ ...result, advice: 'Not tried by this audit.', durationMs: 0 }];
  });
}
