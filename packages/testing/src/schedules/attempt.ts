/** One try: deliveries of one order, or of one each, whose rounds leave in a chosen order. */
import type { NewOrder, Party, Subject } from './subject.js';
import type { Line } from './story.js';

/** Milliseconds without a round, after which a process waits for something beside the database. */
const IDLE = 3_000;
/** Turns of the process's event loop that it needs beside them. */
const TURNS = 20;
/**
 * A round waits for a lock if the database has answered this many other questions since, one after
 * the other. A time limit would take a slow round for one that waits, and the story would depend on
 * the machine's load.
 */
const QUESTIONS = 20;
/** Milliseconds beside them for a round that begins or commits: a commit waits for the disk. */
const SHORTEST_WAIT = 100;

export class Attempt {
  readonly lines: Line[] = [];
  /** True if a delivery was acknowledged while the database said unpaid. */
  isEarly = false;
  /** True if a transaction with locks stays open after the replies. */
  isLeftOpen = false;
  readonly #waiting = new Set<Party>();
  readonly #told = new Map<Party, number>();

  constructor(
    readonly subject: Subject,
    /** One for all parties, or one for each. */
    readonly orders: readonly NewOrder[],
    readonly parties: readonly Party[],
  ) {
    for (const party of parties) {
      party.onFound = (paid) => {
        const line = this.roundsOf(party).at(-1);
        if (line?.round?.isRead === true) line.notes.push(paid === true ? 'paid' : 'unpaid');
      };
      party.start(this.orderOf(party));
    }
  }

  orderOf(party: Party): NewOrder {
    return this.orders[this.parties.indexOf(party)] ?? this.orders[0]!;
  }

  roundsOf(party: Party): Line[] {
    return this.lines.filter((line) => line.party === party && line.round !== undefined);
  }

  /** Resolves with the parties that have a round to send. None: all deliveries ended. */
  async ready(): Promise<Party[]> {
    const hasRound = ({ proxy }: Party): boolean => proxy.held.length > 0;
    for (;;) {
      await this.#settle();
      await this.#tellReplies();
      const ready = this.parties.filter(hasRound);
      // A process whose delivery waits may have a worker with rounds without end.
      const free = ready.filter((party) => !this.#waiting.has(party));
      if (free.length > 0) return free;
      if (ready.length > 0 || this.parties.every(({ isOver }) => isOver)) return ready;
      // Every process waits for another: the database ends one of them.
      this.#waiting.clear();
      const hasMoved = (): boolean => this.parties.some((each) => each.isOver || hasRound(each));
      if (!(await this.subject.changes.until(hasMoved))) return [];
    }
  }

  /** Sends the next round, and resolves when it is answered or waits for a lock. */
  async step(party: Party, isAnswerLost = false): Promise<void> {
    const round = party.proxy.held[0]!;
    const { connection } = round;
    this.tellRound(party);
    const isAlone = this.parties.every((other) => other === party || other.isOver);
    if (isAlone || !connection.canBegin) {
      connection.release(isAnswerLost);
      return this.#answered([party]);
    }
    this.lines.at(-1)!.notes.push('uncommitted');
    connection.begin();
    await this.#askUntil(() => round.notRun <= 0, SHORTEST_WAIT);
  }

  /** Asks the database until the condition holds, or a round probably waits for a lock. */
  async #askUntil(isMet: () => boolean, milliseconds: number): Promise<void> {
    const earliest = performance.now() + milliseconds;
    const isTooEarly = (asked: number): boolean =>
      asked < QUESTIONS || performance.now() < earliest;
    for (let asked = 0; isTooEarly(asked) && !isMet(); asked += 1)
      await this.subject.questionAnswered();
  }

  /** Adds a line for the party's next round. */
  tellRound(party: Party): void {
    const [round] = party.proxy.held;
    const who = this.subject.nameOf(party, round);
    const text = round!.isBegun ? 'commits' : undefined;
    this.lines.push({ who, party, round, text, notes: [] });
  }

  tell(text: string): void {
    this.lines.push({ who: ' ', text, notes: [] });
  }

  /** Releases the remaining rounds, and waits for the ends. */
  async end(): Promise<void> {
    for (const { proxy } of this.parties) proxy.releaseAll();
    await this.subject.changes.until(() =>
      this.parties.every(
        ({ isOver, proxy }) => isOver && proxy.unanswered.length === 0 && !proxy.isEnding,
      ),
    );
    await this.#tellReplies();
    const isOpen = (): boolean =>
      this.lines.some(({ round }) => round?.isLocking === true && round.connection.mayKeepLocks);
    // A worker in the process may have one for a moment.
    if (isOpen()) await this.#askUntil(() => !isOpen(), IDLE);
    this.isLeftOpen = isOpen();
    for (const party of this.parties) party.onFound = undefined;
  }

  /** Waits until each process has sent its next round, has ended, or waits for another. */
  async #settle(): Promise<void> {
    const { changes } = this.subject;
    const isBusy = (party: Party): boolean =>
      !party.isOver &&
      !this.#waiting.has(party) &&
      (party.proxy.held.length === 0 || party.proxy.isConnecting);
    const heldCount = (): number => this.parties.flatMap(({ proxy }) => proxy.held).length;
    for (;;) {
      const busy = this.parties.filter(isBusy);
      const blocked = busy.filter(({ proxy }) => proxy.unanswered.length > 0);
      if (blocked.length > 0) await this.#answered(blocked);
      else if (busy.length > 0) {
        const hasMoved = (): boolean => !busy.every(isBusy);
        await changes.until(hasMoved, IDLE);
        // A process that got no processor is not idle.
        const latest = performance.now() + IDLE;
        const isIdle = (turns: number): boolean => turns >= TURNS || performance.now() >= latest;
        for (let turns = 0; !hasMoved() && !isIdle(turns); turns += 1)
          await Promise.all(busy.map(async (party) => party.pass()));
        if (!hasMoved()) for (const party of busy) this.#waiting.add(party);
      } else {
        // A process may be about to send a second round through another connection.
        const before = heldCount();
        await Promise.all(this.parties.map(async (party) => party.pass()));
        if (heldCount() === before && !this.parties.some(isBusy)) return;
      }
    }
  }

  /** Waits for the answers to the parties' rounds, or finds that the rounds wait for a lock. */
  async #answered(parties: readonly Party[]): Promise<void> {
    const rounds = parties.flatMap(({ proxy }) => proxy.unanswered);
    const isAnswered = (): boolean => rounds.some((round) => round.isAnswered);
    const mayWait = rounds.some(
      (round) => !round.isEnd && this.parties.some(({ proxy }) => proxy.mayLockOut(round)),
    );
    if (!mayWait) await this.subject.changes.until(isAnswered);
    const commits = rounds.some(({ connection }) => !connection.isInTransaction);
    await this.#askUntil(isAnswered, commits ? SHORTEST_WAIT : 0);
    if (isAnswered()) {
      // Its locks may be gone, so the others may go on.
      if (rounds.some((round) => round.isAnswered && !round.isInTransaction)) this.#waiting.clear();
      return;
    }
    for (const party of parties) {
      this.#waiting.add(party);
      const line = this.roundsOf(party).findLast(({ round }) => rounds.includes(round!));
      if (line?.notes.includes('waits') === false) line.notes.push('waits');
    }
  }

  /** Tells the replies, and asks the database about each order that was acknowledged. */
  async #tellReplies(): Promise<void> {
    for (const party of this.parties) {
      for (let at = this.#told.get(party) ?? 0; at < party.replies.length; at += 1) {
        this.#told.set(party, at + 1);
        const { isAcknowledged, code } = party.replies[at]!;
        const text = isAcknowledged ? '200' : `no 200 (${code})`;
        const line: Line = { who: this.subject.nameOf(party), text, notes: [] };
        this.lines.push(line);
        if (!isAcknowledged || (await this.subject.truth(this.orderOf(party))).paid) continue;
        this.isEarly = true;
        line.notes.push('the database says unpaid');
      }
    }
  }
}
