/** One round trip between a driver and its database, and the possible effects of its statements. */

/** The connection of a held round. */
export interface Holder {
  /** True if the round can begin before the round of another process. */
  readonly canBegin: boolean;
  /** True if a statement that runs now does not commit by itself. */
  readonly isInTransaction: boolean;
  /** True if a statement of the open transaction may keep rows locked. */
  readonly mayKeepLocks: boolean;
  /** Sends the round without its last part, which commits. The server answers later. */
  begin(): void;
  /** Sends the round. */
  release(isAnswerLost: boolean): void;
  cut(): void;
}

export class Round {
  /** How many rows the statements changed or gave, if the server has said so. */
  rows: number | undefined;
  /** The server's code of an error. */
  error: string | undefined;
  /** True if a transaction is still open after the round. */
  isInTransaction = false;
  isAnswered = false;
  /**
   * Lets the server answer a round without its last part. Undefined if more than the last part
   * commits. Otherwise the rest can run before another's round.
   */
  flush: Buffer | undefined;
  /** True once the rest has been sent. */
  isBegun = false;
  /** Statements of the rest that the server has not run. */
  notRun = 0;
  /** In the order in which the rounds came. */
  number = 0;
  connection!: Holder;
  /** True if the client has asked for the answers, but not for the end of the round. */
  isFlushed = false;

  /** @param isExpectingAnswer false for bytes that end no round, such as a login or data of COPY */
  constructor(
    readonly statements: string[] = [],
    readonly parts: Buffer[] = [],
    readonly isExpectingAnswer = true,
  ) {}

  /** True if the round neither reads nor writes an order, so that its place does not matter. */
  get isFree(): boolean {
    return this.statements.every((sql) => sql.split(';').every((each) => FREE.test(each)));
  }

  /** True if the round writes nothing and locks nothing. */
  get isRead(): boolean {
    return this.statements.every((sql) => READ.test(sql) && !CALLS_OR_LOCKS.test(sql));
  }

  /** True if the round may keep rows locked up to the end of its transaction. */
  get isLocking(): boolean {
    return !this.isFree && !this.isRead && this.isInTransaction;
  }

  get changedRows(): number | undefined {
    return this.statements.some((sql) => WRITE.test(sql)) ? this.rows : undefined;
  }

  /** True if the round only ends a transaction, for which nothing waits. */
  get isEnd(): boolean {
    return this.statements.every((sql) => /^\s*(?:commit|rollback|end)\b/i.test(sql));
  }
}

const FREE = new RegExp(
  [
    String.raw`^\s*(?:$|begin\b|start transaction(?!.*snapshot)|set\b(?!.*autocommit)|show\b|use\b`,
    String.raw`discard\b|deallocate\b|select\s+(?:[\d+\s]+|version\(\)|database\(\)|@@[\w@.,\s]+`,
    String.raw`current_\w+(?:\(\))?)(?:\s+as\s+\S+)?\s*$|select\b[^]*\bfrom\s+(?:pg_catalog\b`,
    String.raw`pg_(?:type|namespace|class|attribute|enum|settings)\b|information_schema\b))`,
  ].join('|'),
  'i',
);
const READ = /^\s*select\b[^]*\bfrom\b|^(?:GET|HEAD) |^(?:Batch|Transact)?Get|^(?:Query|Scan)$/i;
const CALLS_OR_LOCKS =
  /\bfor\s+(?:no\s+key\s+|key\s+)?(?:update|share)\b|lock\s+in|\binto\b|\b(?!(?:count|sum|max|min|coalesce|in|and|or|not|where|exists|cast|lower|upper|select|from|on|as)\s*\()\w+\s*\(/i;
const WRITE = /^\s*(?:with|insert|update|delete|merge|replace|post|put|patch)\b/i;
