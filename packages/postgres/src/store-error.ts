import { sqlStates } from './sql-state.js';

/** Says of what a statement of the store's own failed with what to do about it. The driver's error is the cause. */
export async function explained<T>(running: Promise<T>): Promise<T> {
  try {
    return await running;
  } catch (error) {
    const advice = sqlStates(error)
      .map((state) => ADVICE.get(state))
      .find((text) => text !== undefined);
    throw advice === undefined ? error : new Error(advice, { cause: error });
  }
}

const ADVICE = new Map<unknown, string>([
  ['42P01', 'the table of the marks is missing: call `await store.migrate()` once at start, or run the SQL of migrationSql()'],
  ['3F000', 'the schema of the marks is missing: call `await store.migrate()` once at start, or run the SQL of migrationSql()'],
  [
    '25P02',
    'nothing was committed: a statement of the handler failed and the handler went on, so PostgreSQL had given the transaction up; ' +
      'let the error through, or set a SAVEPOINT before a statement that may fail',
  ],
  [
    '22012',
    'the handler ended the transaction of the store by itself: no BEGIN, COMMIT or ROLLBACK through `tx`, only SAVEPOINT and ROLLBACK TO',
  ],
]);
