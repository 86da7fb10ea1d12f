import { randomBytes } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { attacks } from '@paylink/testing';
import {
  acknowledges,
  headerNames,
  materialOf,
  rawAttacks,
  type Material,
} from '@paylink/testing/internal';
import { attempt, StoppedServing } from './attempt.js';
import { deliverFirst } from './first-delivery.js';
import { isAcknowledged, openSession, orClosed, statusOf, type AuditSession } from './session.js';
import { leaks } from './leaks.js';
import type { AuditOptions } from './options.js';
import { probeOf, probeOfRaw, type Probe } from './probe.js';
import { replyProbes } from './reply-probes.js';
import { reportOf, sorted, type AuditReport, type AuditStop } from './report.js';
import type { AuditResult } from './result.js';
import { loadProbes, slowProbes } from './slow-probes.js';

/**
 * Attacks a running receiver over real sockets and reports its problems with their fixes. Sends
 * forged and broken deliveries, and a few hundred genuine ones. Run the audit against test servers,
 * never against production.
 *
 * By default, stops within three seconds if the receiver rejects or does not answer the first
 * genuine delivery. `stopped` then contains the reason. The report does not contain secrets or
 * signatures.
 *
 * @throws Error without a connection to the server
 */
export async function auditReceiver(options: AuditOptions): Promise<AuditReport> {
  const started = performance.now();
  const { secret, reference = 'paylink-audit', bodyLimit = 65_536, timeout = 15_000 } = options;
  const { requestHeaders = {}, signal } = options;
  const url = new URL(options.url);
  const material = materialOf({ secret, reference, bodyLimit, names: headerNames() });
  const over = new AbortController();
  const either = AbortSignal.any([over.signal, ...(signal === undefined ? [] : [signal])]);
  // More than a hundred open connections add a listener each.
  setMaxListeners(0, either);
  const session = openSession({ url, timeout, signal: either }, material, requestHeaders);
  const audit = new Audit(options, session);
  let stopped: AuditStop | undefined;
  try {
    stopped = await audit.run();
  } catch (error) {
    if (error instanceof StoppedServing) {
      audit.results.push(error.result);
      stopped = {
        reason: 'stopped_serving',
        message: `The server ${error.result.title!}, so the audit ended.`,
      };
    } else if (signal?.aborted === true) {
      stopped = {
        reason: 'interrupted',
        message: 'The audit ended early, so this report is incomplete.',
      };
    } else throw error;
  } finally {
    // Ends the probes that still run, so that they do not call back after the report.
    over.abort();
  }
  const replies = session.replies.map(({ reply }) => reply);
  const results = [...audit.results.slice(0, 1), ...sorted(audit.results.slice(1))];
  return reportOf({ url, results, replies, stopped, started });
}

/** The number of concurrent attacks. */
const CONCURRENCY = 4;
/** Milliseconds for the connection and the first answer. */
const FIRST_ANSWER = 1_500;

class Audit {
  readonly results: AuditResult[] = [];
  #total = 0;

  constructor(
    readonly options: AuditOptions,
    readonly session: AuditSession,
  ) {}

  /** @returns the reason if the audit ended early */
  async run(): Promise<AuditStop | undefined> {
    const { session } = this;
    const probes = probesOf(session.material, this.options.bodyLimit !== undefined);
    this.#total = 1 + probes.length + replyProbes.length + loadProbes.length + slowProbes.length;

    const first = await deliverFirst(session, this.options.firstAnswer ?? FIRST_ANSWER);
    first.results.forEach(this.#add);
    if (first.stop !== undefined) return first.stop;

    await sendUnknownOrder(session);
    await this.#try(probes, CONCURRENCY);
    await this.#try(replyProbes, 1);
    await this.#try(slowProbes, slowProbes.length);
    await this.#try(loadProbes, 1);
    leaks(session).forEach(this.#add);
    return undefined;
  }

  async #try(probes: readonly Probe[], concurrency: number): Promise<void> {
    const before = this.results.length;
    const underWay = new Set<Probe>();
    const results: AuditResult[] = [];
    const queue = queueOf(probes);
    const worker = async (): Promise<void> => {
      for (const [index, probe] of queue) {
        underWay.add(probe);
        results[index] = this.#add(await attempt(probe, this.session));
        underWay.delete(probe);
      }
    };
    try {
      await Promise.all(Array.from({ length: concurrency }, worker));
    } catch (error) {
      throw error instanceof StoppedServing ? await this.#findCause(error, [...underWay]) : error;
    }
    // Keeps the order of the probes, so that two audits of one receiver list the same order.
    this.results.splice(before, results.length, ...results);
  }

  /** Several probes were running, so retries them one at a time if the server restarts. */
  async #findCause(stopped: StoppedServing, suspects: readonly Probe[]): Promise<StoppedServing> {
    if (suspects.length < 2) return stopped;
    const running = suspects.map(({ what }) => what).join('; ');
    const oneOfThem = new StoppedServing({
      ...stopped.result,
      id: 'H03',
      name: 'H03 keeps acknowledging genuine deliveries',
      what: running,
      title: `stopped acknowledging genuine deliveries, and one of these was the cause: ${running}`,
    });
    try {
      if (await this.#isBack()) for (const probe of suspects) await attempt(probe, this.session);
    } catch (error) {
      if (error instanceof StoppedServing) return error;
      // An interruption ends the search for the cause, and keeps the finding.
      this.results.push(oneOfThem.result);
      throw error;
    }
    return oneOfThem;
  }

  /** Waits for the server. Returns true if it acknowledges deliveries again. */
  async #isBack(): Promise<boolean> {
    const { serves, wait, throwIfEnded } = this.session;
    for (let time = 0; time < 12; time++) {
      throwIfEnded();
      if (isAcknowledged(await orClosed(serves()))) return true;
      await wait(250);
    }
    return false;
  }

  readonly #add = (result: AuditResult): AuditResult => {
    this.results.push(result);
    const done = this.results.length;
    this.options.onProgress?.({ done, total: Math.max(done, this.#total), name: result.name });
    return result;
  };
}

/** An error in the body of one loop ends this generator, and so the other loops. */
function* queueOf<Item>(items: readonly Item[]): Generator<[index: number, item: Item]> {
  yield* items.entries();
}

/**
 * Sends an unknown order. A receiver that looks up orders may answer any error, and must then
 * answer the same to other unknown references.
 */
async function sendUnknownOrder(session: AuditSession): Promise<void> {
  const { material, request, genuineLines, exchange, unknownOrder } = session;
  const reference = `${material.reference}-unknown-${randomBytes(4).toString('hex')}`;
  const body = Buffer.from(JSON.stringify({ reference }));
  const status = statusOf(await orClosed(exchange(request(genuineLines(body), body))));
  if (status !== undefined && !acknowledges(status) && status !== 401 && status !== 403)
    unknownOrder.status = status;
}

/** Without the receiver's limit, leaves out the attacks on its exact value. */
function probesOf({ secret, reference, bodyLimit }: Material, isLimitKnown: boolean): Probe[] {
  // A contradiction does harm only if the receiver credits, which no reply shows.
  const kit = attacks({ secret, reference, bodyLimit, confirm: true });
  const known = kit.filter(({ id }) => isLimitKnown || (id !== 'D05' && id !== 'D03'));
  return [...known.map(probeOf), ...rawAttacks.map(probeOfRaw)];
}
