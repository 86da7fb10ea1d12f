-- pg-closing.ts
ALTER TABLE orders ADD cancelled_at timestamptz;

-- pg-more-writes.ts, drizzle-more-writes.ts, prisma-more-writes.ts, typeorm-more-writes.ts
ALTER TABLE orders ADD wallet text NOT NULL DEFAULT 'ada';
CREATE TABLE wallets (id text PRIMARY KEY, balance bigint NOT NULL);
CREATE TABLE outbox (kind text NOT NULL, reference text NOT NULL, UNIQUE (kind, reference));

-- pg-tenants.ts
CREATE TABLE tenant_orders (
  merchant   text NOT NULL,
  reference  text NOT NULL,
  amount     bigint NOT NULL,
  currency   text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  paid_at    timestamptz,
  PRIMARY KEY (merchant, reference)
);

-- pg-free-amount.ts
CREATE TABLE donations (
  reference   text PRIMARY KEY,
  amount_min  bigint NOT NULL,
  amount_max  bigint NOT NULL,
  amount_paid bigint,
  currency    text NOT NULL,
  created_at  timestamptz NOT NULL DEFAULT now(),
  paid_at     timestamptz
);

-- pg-expiring.ts
CREATE TABLE bookings (
  reference  text PRIMARY KEY,
  amount     bigint NOT NULL,
  currency   text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL,
  paid_at    timestamptz
);

-- pg-attempts.ts
CREATE TABLE purchases (
  id             text PRIMARY KEY,
  amount         bigint NOT NULL,
  currency       text NOT NULL,
  paid_reference text -- the link that was paid: set once by the credit, and never reset
);
CREATE TABLE attempts (
  reference  text PRIMARY KEY, -- of one link, and never overwritten by the next one
  purchase   text NOT NULL REFERENCES purchases,
  created_at timestamptz NOT NULL DEFAULT now()
);
