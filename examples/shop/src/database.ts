import Database from 'libsql';

export type Db = Database.Database;

const SCHEMA = `
  PRAGMA journal_mode = WAL;
  CREATE TABLE IF NOT EXISTS orders (
    id TEXT PRIMARY KEY NOT NULL,
    product TEXT NOT NULL,
    description TEXT NOT NULL,
    amount INTEGER NOT NULL CHECK (amount > 0),
    currency TEXT NOT NULL,
    paid_reference TEXT -- the link that was paid: set once by the credit, and never reset
  );
  CREATE TABLE IF NOT EXISTS attempts (
    reference TEXT PRIMARY KEY NOT NULL, -- of one link, and never overwritten by the next one
    order_id TEXT NOT NULL REFERENCES orders,
    number INTEGER NOT NULL,
    pay_url TEXT,
    created_at TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP,
    UNIQUE (order_id, number)
  );
  CREATE TABLE IF NOT EXISTS credits (
    reference TEXT NOT NULL REFERENCES attempts,
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
