/** One try: deliveries of one order, whose rounds leave in a chosen order. */
import type { NewOrder } from './caller-contract.js';
import type { Lab } from './lab.js';
import type { Caller } from './process.js';
import type { Round } from './round.js';
import type { Line } from './story.js';

/** Milliseconds without a round, after which a caller waits for something beside the database. */
const IDLE = 3_000;
/** Milliseconds for a deadlock, which PostgreSQL looks for after 1 s. */
const STUCK = 30_000;
/**
 * A round waits for a lock if the database has answered this many other questions since, one after
 * the other. A time limit would take a slow round for one that waits, and the story would depend on
 * the machine's load.
 */
const QUESTIONS = 20;
/** Milliseconds beside them, because a commit waits for the disk and a question does not. */
const AT_LEAST = 100;

export class Attempt {
  readonly lines: Line[] = [];
  readonly rounds = new Map<Caller, Round[]>();
  /** The callers whose delivery was acknowledged while the database said unpaid. */
  readonly acknowledgedUnpaid = new Set<Caller>();
  readonly #waiting = new Set<Caller>();
  readonly #told = new Set<Caller>();

  constructor(
    readonly lab: Lab,
    readonly order: NewOrder,
    readonly callers: readonly Caller[],
  ) {}

  start(): void {
    for (const caller of this.callers) {
      this.rounds.set(caller, []);
      caller.proxy!.isHolding = true;
      caller.onFound = (paid) => {
        const line = this.lines.findLast((each) => each.who === this.nameOf(caller));
        if (line?.round?.isRead === true) line.notes.push(paid === true ? 'paid' : 'unpaid');
      };
      void caller.deliver(this.order);
    }
  }

  nameOf(caller: Caller): string {
    return String.fromCharCode(65 + this.callers.indexOf(caller));
  }

  /** Resolves with the callers that have a round to send. None means that all deliveries ended. */
  async ready(): Promise<Caller[]> {
    const { changes } = this.lab;
    for (;;) {
      await this.#settle();
      await this.#tellEnds();
      const ready = this.callers.filter(({ proxy }) => proxy!.held.length > 0);
      const isOver = this.callers.every((caller) => caller.isOver);
      if (ready.length > 0 || isOver) return ready;
      // Every caller waits for another: the database ends one of them.
      this.#waiting.clear();
      const moved = (): boolean =>
        this.callers.some((each) => each.isOver || each.proxy!.held.length > 0);
      if (!(await changes.until(moved, STUCK))) return [];
    }
  }

  /** Sends the caller's next round, and resolves when it is answered or waits for a lock. */
  async step(caller: Caller, isAnswerLost = false): Promise<Round> {
    const { proxy } = caller;
    const [round] = proxy!.held;
    const others = this.callers.filter((other) => other !== caller && !other.isOver);
    if (!round!.isBegun) {
      this.lines.push({ who: this.nameOf(caller), round: round!, notes: [] });
      this.rounds.get(caller)!.push(round!);
    } else this.lines.push({ who: this.nameOf(caller), text: 'commits', notes: [] });
    if (others.length > 0 && proxy!.canBegin(round!)) {
      this.lines.at(-1)!.notes.push('uncommitted');
      proxy!.begin(round!);
      for (let asked = 0; asked < QUESTIONS; asked += 1) await this.lab.questionAnswered();
      return round!;
    }
    proxy!.release(round!, isAnswerLost);
    await this.#answered([caller]);
    return round!;
  }

  /** Releases the remaining rounds, and waits for the ends. */
  async end(): Promise<void> {
    for (const { proxy } of this.callers) proxy!.releaseAll();
    const isOver = (): boolean =>
      this.callers.every((caller) => caller.isOver && caller.proxy!.unanswered.length === 0);
    await this.lab.changes.until(isOver, STUCK);
    await this.#tellEnds();
    for (const caller of this.callers) caller.onFound = undefined;
  }

  /** Waits until each caller has sent its next round, has ended, or waits for another. */
  async #settle(): Promise<void> {
    const { changes } = this.lab;
    const isBusy = (caller: Caller): boolean =>
      !caller.isOver &&
      !this.#waiting.has(caller) &&
      (caller.proxy!.held.length === 0 || caller.proxy!.isConnecting);
    for (;;) {
      const busy = this.callers.filter(isBusy);
      const blocked = busy.filter(({ proxy }) => proxy!.unanswered.length > 0);
      if (blocked.length > 0) await this.#answered(blocked);
      else if (busy.length > 0) {
        const isIdle = !(await changes.until(() => !busy.every(isBusy), IDLE));
        if (isIdle) for (const caller of busy) this.#waiting.add(caller);
      } else {
        // A caller may be about to send a second round through another connection.
        const before = this.#heldCount();
        await Promise.all(
          this.callers.map(async (caller) => caller.call('ping').catch(() => undefined)),
        );
        await new Promise((resolve) => setImmediate(resolve));
        if (this.#heldCount() === before && !this.callers.some(isBusy)) return;
      }
    }
  }

  #heldCount(): number {
    return this.callers.reduce((count, { proxy }) => count + proxy!.held.length, 0);
  }

  /** Waits for the answers to the callers' rounds, or finds that the rounds wait for a lock. */
  async #answered(callers: readonly Caller[]): Promise<void> {
    const { changes } = this.lab;
    const rounds = callers.flatMap(({ proxy }) => proxy!.unanswered);
    const isAnswered = (): boolean => rounds.some((round) => round.isAnswered);
    const others = this.callers.filter((other) => callers.length > 1 || other !== callers[0]);
    const mayWait =
      others.some(({ proxy }) => proxy!.mayHoldLocks) && rounds.some((round) => !round.isEnd);
    if (!mayWait) await changes.until(isAnswered, STUCK);
    const start = performance.now();
    const isEarly = (asked: number): boolean =>
      asked < QUESTIONS || performance.now() - start < AT_LEAST;
    for (let asked = 0; isEarly(asked) && !isAnswered(); asked += 1)
      await this.lab.questionAnswered();
    if (isAnswered()) {
      // Its locks may be gone, so the others may go on.
      if (rounds.some((round) => round.isAnswered && !round.isInTransaction)) this.#waiting.clear();
      return;
    }
    for (const caller of callers) {
      this.#waiting.add(caller);
      const line = this.lines.findLast((each) => each.round === caller.proxy!.unanswered.at(-1));
      if (line !== undefined && !line.notes.includes('waits')) line.notes.push('waits');
    }
  }

  /** Notes the replies, and asks the database about each order that was acknowledged. */
  async #tellEnds(): Promise<void> {
    for (const caller of this.callers) {
      const { delivered } = caller.conduct;
      if (delivered === undefined || this.#told.has(caller)) continue;
      this.#told.add(caller);
      const text = delivered.isAcknowledged ? '200' : `no 200 (${delivered.code})`;
      const line: Line = { who: this.nameOf(caller), text, notes: [] };
      this.lines.push(line);
      if (!delivered.isAcknowledged || (await this.lab.truth(this.order)).paid) continue;
      this.acknowledgedUnpaid.add(caller);
      line.notes.push('the database says unpaid');
    }
  }
}
