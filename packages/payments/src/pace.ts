/** When the next question may be sent: after the service's pause, at the rate that it showed. */

// Constants, because fake timers replace the globals, and a pause would never end.
export const now = performance.now.bind(performance);
export const startTimer = setTimeout;
export const stopTimer = clearTimeout;

/** Milliseconds to pause after a 429 without `retryAfter`. Doubles with each refusal. */
const FIRST_PAUSE = 1_000;
/** The least pause after a 429, which doubles too, because the service may say 0. */
const SHORTEST_PAUSE = 250;
const LONGEST_DOUBLED = 60_000;
const LONGEST_PAUSE = 3_600_000;
/** Milliseconds of random delay, so that processes refused together do not return together. */
const JITTER = 250;
/** Milliseconds in which answers are counted: a second, and a tenth for questions that are late. */
const WINDOW = 1_100;
/** Factor of the interval after a 429 at the measured rate. */
const SLOWER = 1.5;
/** A longer pause says nothing about the rate. */
const LONGEST_MEASURED_PAUSE = 60_000;
/** Milliseconds after which the line tries whether the service allows a higher rate. */
const RATE_KEPT_FOR = 60_000;

export class Pace {
  #pauseEnd = 0;
  /** Pauses without an answer between them. */
  #refusals = 0;
  #interval = 0;
  #intervalExpiry = 0;
  #lastSent = -Infinity;
  /** The answers since the window began, and in the window before. */
  #answers = 0;
  #answersBefore = 0;
  #windowStart = 0;

  /** Milliseconds until the service's pause ends. */
  get pause(): number {
    return Math.max(0, this.#pauseEnd - now());
  }

  /** Milliseconds between two questions. 0 if the service has shown no rate. */
  get interval(): number {
    return this.#interval;
  }

  /** Returns the value of `now()` at which the next question may be sent. */
  next(): number {
    if (this.#interval === 0) return this.#pauseEnd;
    if (now() >= this.#intervalExpiry) this.#interval = 0;
    return Math.max(this.#pauseEnd, this.#lastSent + this.#interval);
  }

  noteSent(time: number): void {
    this.#lastSent = time;
  }

  noteAnswer(): void {
    this.#refusals = 0;
    const time = now();
    const age = time - this.#windowStart;
    if (age >= WINDOW) {
      this.#answersBefore = age < 2 * WINDOW ? this.#answers : 0;
      this.#answers = 0;
      this.#windowStart = time;
    }
    this.#answers++;
  }

  /** Pauses after a 429, and slows down. */
  noteRefusal(sentAt: number, retryAfter: number | undefined): void {
    // The same limit refuses all questions that are in flight.
    const isFirst = sentAt >= this.#pauseEnd;
    const doubled = (pause: number) => Math.min(LONGEST_DOUBLED, pause * 2 ** this.#refusals);
    const said = Math.min(LONGEST_PAUSE, retryAfter ?? doubled(FIRST_PAUSE));
    const pause = Math.max(said, doubled(SHORTEST_PAUSE)) + Math.random() * JITTER;
    this.#pauseEnd = Math.max(this.#pauseEnd, now() + pause);
    if (!isFirst) return;
    if (said > LONGEST_MEASURED_PAUSE) this.#interval = 0;
    // A refusal right after a pause says that the pause was too short.
    else if (this.#refusals === 0) {
      this.#interval = this.#interval > 0 ? this.#interval * SLOWER : this.#measured();
    }
    this.#refusals++;
    this.#intervalExpiry = this.#pauseEnd + RATE_KEPT_FOR;
    this.#answers = 0;
    this.#answersBefore = 0;
    this.#windowStart = this.#pauseEnd;
  }

  /** Takes the rate from the answers of the last second, or up to the end of a shorter pause. */
  #measured(): number {
    const answers = Math.max(this.#answers, this.#answersBefore);
    const window = Math.min(WINDOW, this.#pauseEnd - this.#windowStart);
    return answers === 0 ? 0 : window / answers;
  }
}
