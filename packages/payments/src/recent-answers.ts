/** The answers of the last two seconds, so that a page which polls does not flood the service. */
import type { ServicePayment } from './contract.js';
import { now } from './pace.js';

const REUSED_FOR = 2_000;
/** Answers in each of the two maps. */
const MOST_ANSWERS = 5_000;

export interface RecentAnswer {
  readonly answer: Promise<ServicePayment>;
  readonly isSuccess: boolean;
  /** The value of `now()` at which the question was sent. */
  readonly sentAt: number;
}

export class RecentAnswers {
  #newer = new Map<string, RecentAnswer & { readonly expiry: number }>();
  /** Dropped as a whole, because a Map is slow after many single deletions. */
  #older = this.#newer;
  #newerEnd = 0;

  get(key: string): RecentAnswer | undefined {
    const known = this.#newer.get(key) ?? this.#older.get(key);
    return known !== undefined && known.expiry > now() ? known : undefined;
  }

  add(key: string, { answer, isSuccess, sentAt }: RecentAnswer): void {
    const time = now();
    if (time >= this.#newerEnd || this.#newer.size >= MOST_ANSWERS) {
      this.#older = this.#newer;
      this.#newer = new Map();
      this.#newerEnd = time + REUSED_FOR;
    }
    this.#newer.set(key, { answer, isSuccess, sentAt, expiry: time + REUSED_FOR });
  }
}
