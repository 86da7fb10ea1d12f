import Database from 'libsql';

export type Db = Database.Database;

const SCHEMA = `
  PRAGMA journal_mode = WAL;
  CREATE TABLE IF NOT EXISTS orders (
    reference TEXT PRIMARY KEY,
    product TEXT NOT NULL,
    amount INTEGER NOT NULL CHECK (amount > 0),
    currency TEXT NOT NULL,
    pay_url TEXT,
    created_at TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP,
    paid_at TEXT
  );
  CREATE TABLE IF NOT EXISTS credits (
    reference TEXT NOT NULL REFERENCES orders,
    amount INTEGER NOT NULL,
    credited_by TEXT NOT NULL
  );
`;

/** Opens the shop's database, one SQLite file. Waits up to 5 s for the lock of another process. */
export function openDatabase(file: string): Db {
  const db = new Database(file, { timeout: 5_000 });
  db.exec(SCHEMA);
  return db;
}
