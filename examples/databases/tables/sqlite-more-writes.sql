ALTER TABLE orders ADD wallet text NOT NULL DEFAULT 'ada';
CREATE TABLE wallets (id text PRIMARY KEY NOT NULL, balance integer NOT NULL);
CREATE TABLE outbox (kind text NOT NULL, reference text NOT NULL, UNIQUE (kind, reference));
