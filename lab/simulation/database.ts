/** The merchant's database: one row per order, conditional writes, and a replica that lags. */

export interface Row {
  readonly tenant: string | null;
  readonly reference: string;
  readonly amount: number;
  readonly currency: string;
  readonly recordedAt: number;
  paidAt: number | undefined;
  closedAt: number | undefined;
  isShipped: boolean;
  /** The effects of `credit`: what the customer got. */
  credits: number;
}

/** A row as a reader sees it. */
export interface SeenRow {
  readonly reference: string;
  readonly amount: number;
  readonly currency: string;
  readonly isPaid: boolean;
  readonly isClosed: boolean;
  readonly isShipped: boolean;
}

export class Database {
  isDown = false;
  /** Milliseconds that the replica is behind. */
  lag = 0;
  readonly #rows = new Map<string, Row>();

  constructor(readonly now: () => number) {}

  record(row: Omit<Row, 'recordedAt' | 'paidAt' | 'closedAt' | 'isShipped' | 'credits'>): void {
    const fresh = { paidAt: undefined, closedAt: undefined, isShipped: false, credits: 0 };
    this.#rows.set(keyOf(row), { ...row, ...fresh, recordedAt: this.now() });
  }

  row(tenant: string | null, reference: string): Row | undefined {
    return this.#rows.get(keyOf({ tenant, reference }));
  }

  read(tenant: string | null, reference: string, lag = 0): SeenRow | undefined {
    const row = this.row(tenant, reference);
    const at = this.now() - lag;
    if (row === undefined || row.recordedAt > at) return undefined;
    const isSince = (moment: number | undefined): boolean => moment !== undefined && moment <= at;
    const { amount, currency, isShipped } = row;
    const isClosed = isSince(row.closedAt);
    return { reference, amount, currency, isShipped, isClosed, isPaid: isSince(row.paidAt) };
  }

  unpaid(tenant: string | null): string[] {
    return [...this.#rows.values()]
      .filter((row) => row.tenant === tenant && row.paidAt === undefined)
      .map(({ reference }) => reference);
  }

  /** Credits every row that `matches`, in one step. Returns their number. */
  credit(matches: (row: Row) => boolean): Row[] {
    const rows = [...this.#rows.values()].filter(matches);
    for (const row of rows) {
      row.paidAt ??= this.now();
      row.credits += 1;
    }
    return rows;
  }
}

function keyOf({ tenant, reference }: Pick<Row, 'tenant' | 'reference'>): string {
  return `${tenant ?? '-'}/${reference}`;
}
