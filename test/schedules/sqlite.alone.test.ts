/** The reports of the hook in the drivers of SQLite, without processes. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'libsql';
import { expect, it, onTestFinished, vi } from 'vitest';
import type { Round } from '../../packages/testing/src/schedules/round.js';
import { hookSqlite, openSqliteWire } from '../../packages/testing/src/schedules/sqlite.js';

const pipe = vi.hoisted(() => ({ write: (_: Buffer): void => undefined }));
vi.mock('node:fs', async (load) => ({
  ...(await load<object>()),
  writeSync: (_: number, bytes: Buffer) => pipe.write(bytes),
  readSync: () => 1,
}));

/** Hooks the drivers that the module can load. Returns their reports, each with its answer. */
function watch(module: string): Round[] {
  const rounds: Round[] = [];
  let answered = 0;
  const { fromClient } = openSqliteWire({
    isOpen: false,
    get current() {
      return rounds[answered];
    },
    onRound: (round) => void rounds.push(round),
    onAnswer: () => void (answered += 1),
    reply: () => undefined,
    note: () => undefined,
  });
  pipe.write = fromClient;
  hookSqlite(module);
  rounds.length = answered = 0;
  return rounds;
}

/** As better-sqlite3 does, a transaction prepares its statements below `prepare`. */
const BETTER_SQLITE3 = `
class Statement {
  constructor(source, database) { Object.assign(this, { source, database }); }
  run() {
    if (/BEGIN|COMMIT/.test(this.source)) this.database.inTransaction = this.source === 'BEGIN';
    return { changes: /UPDATE/.test(this.source) ? 1 : 0 };
  }
  get() {}
  all() {}
  iterate() {}
}
module.exports = class {
  inTransaction = false;
  prepare(sql) { return new Statement(sql, this); }
  exec() {}
  close() {}
  transaction(work) {
    const [begin, commit] = ['BEGIN', 'COMMIT'].map((sql) => new Statement(sql, this));
    return () => [begin.run(), work(), commit.run()];
  }
};`;

it('names the statements of a transaction of better-sqlite3', () => {
  const folder = mkdtempSync(join(tmpdir(), 'paylink-hook-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const driver = join(folder, 'node_modules', 'better-sqlite3');
  mkdirSync(driver, { recursive: true });
  writeFileSync(join(driver, 'index.js'), BETTER_SQLITE3);
  const module = join(folder, 'payments.cjs');
  const rounds = watch(module);
  const Driver = createRequire(module)('better-sqlite3') as new () => {
    prepare(sql: string): { run(): unknown };
    transaction(work: () => unknown): () => unknown;
  };
  const db = new Driver();
  db.transaction(() => db.prepare('UPDATE orders').run())();
  expect(rounds).toMatchObject([
    { statements: ['BEGIN'], isInTransaction: true },
    { statements: ['UPDATE orders'], isInTransaction: true, rows: 1 },
    { statements: ['COMMIT'], isInTransaction: false },
  ]);
});

it('counts the rows that each method of a driver changes or reads, and names an error', () => {
  const rounds = watch(import.meta.filename);
  const db = new Database(':memory:');
  db.exec('CREATE TABLE receipts (reference text PRIMARY KEY)');
  const write = db.prepare('INSERT INTO receipts VALUES (?) RETURNING reference');
  const read = db.prepare('SELECT reference FROM receipts');
  write.get('a');
  write.all('b');
  db.prepare('DELETE FROM receipts').run();
  read.get();
  db.exec('BEGIN');
  expect(() => db.exec("INSERT INTO receipts VALUES ('a'), ('a')")).toThrow(/UNIQUE/);
  db.exec('ROLLBACK');
  db.close();
  expect(rounds.slice(1)).toMatchObject([
    {
      statements: ['INSERT INTO receipts VALUES (?) RETURNING reference'],
      rows: 1,
      isInTransaction: false,
    },
    { rows: 1 },
    { rows: 2 },
    { rows: 0 },
    { isInTransaction: true },
    { error: expect.stringMatching(/^SQLITE_CONSTRAINT/) as string, isInTransaction: true },
    { error: undefined, isInTransaction: false },
  ]);
});
