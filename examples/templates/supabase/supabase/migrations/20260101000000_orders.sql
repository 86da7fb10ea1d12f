CREATE TABLE orders (
  reference   text PRIMARY KEY,
  amount      bigint NOT NULL, -- in the smallest unit of the currency
  currency    text NOT NULL,
  created_at  timestamptz NOT NULL DEFAULT now(),
  paid_at     timestamptz,     -- set once by the credit, and never reset
  refunded_at timestamptz
);
-- Without a policy, browsers and apps can neither read nor write orders.
ALTER TABLE orders ENABLE ROW LEVEL SECURITY;
-- New Supabase projects do not grant rights on a new table. Only your server's key needs them.
GRANT SELECT, INSERT, UPDATE, DELETE ON orders TO service_role;
