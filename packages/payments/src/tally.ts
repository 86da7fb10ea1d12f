/** Counts the results of a run over many orders, and knows where the next run must start. */
import type { Listed, ListedErrors, Outcome } from './contract.js';
import type { Verdict } from './outcome.js';
import { toCursor, type Item } from './references.js';

/** Number of references that a list of a report names. */
const MOST_LISTED = 1_000;

export type Result<List> = Partial<Verdict> & {
  readonly list: List | 'errors' | 'notAsked';
  /** The next run starts behind an item that was reached. Default: unless it was not asked. */
  readonly isReached?: boolean;
};

export class Tally<List extends string> {
  readonly #lists: Record<string, { count: number; references: string[] }>;
  readonly #outcomes: Partial<Record<Outcome, number>> = {};
  readonly #details: ListedErrors['details'][number][] = [];
  readonly #underWay = new Set<Item>();
  #last: Item | undefined;
  #total = 0;
  /** The first item in the order of the run that was not reached. One under way may hang. */
  left: Item | undefined;

  constructor(names: readonly List[]) {
    const all = [...names, 'errors', 'notAsked'];
    this.#lists = Object.fromEntries(all.map((name) => [name, { count: 0, references: [] }]));
  }

  begin(item: Item): void {
    this.#total++;
    this.#underWay.add(item);
    this.#last = item;
  }

  end(item: Item, { list: name, outcome, error, isReached }: Result<List>): void {
    const { reference = '' } = item;
    const list = this.#lists[name]!;
    list.count++;
    if (list.references.length < MOST_LISTED) list.references.push(reference);
    this.#underWay.delete(item);
    if (!(isReached ?? name !== 'notAsked')) this.left = earlier(this.left, item);
    if (name !== 'errors') return;
    this.#outcomes[outcome!] = (this.#outcomes[outcome!] ?? 0) + 1;
    if (this.#details.length < MOST_LISTED) {
      this.#details.push({ reference, outcome: outcome!, message: error!.message });
    }
  }

  /** Notes that references were left unread. The next run starts at the last one read. */
  leaveUnread(): void {
    if (this.#last !== undefined) this.left = earlier(this.left, this.#last);
  }

  count(name: List | 'errors'): number {
    return this.#lists[name]!.count;
  }

  progress() {
    const { credited, errors, notAsked } = this.#lists;
    const ended = this.#total - this.#underWay.size - notAsked!.count;
    return { ended, credited: credited?.count ?? 0, errors: errors!.count, cursor: this.#cursor };
  }

  report() {
    const { errors, ...lists } = this.#lists;
    return {
      total: this.#total,
      ...(lists as unknown as Record<List | 'notAsked', Listed>),
      errors: { ...errors!, outcomes: this.#outcomes, details: this.#details },
      cursor: this.#cursor,
    };
  }

  get #cursor(): string | undefined {
    const first = [...this.#underWay].reduce(earlier, this.left);
    return first && toCursor(first);
  }
}

function earlier(one: Item | undefined, other: Item): Item {
  return one === undefined || other.order < one.order ? other : one;
}
