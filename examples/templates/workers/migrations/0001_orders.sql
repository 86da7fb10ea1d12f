CREATE TABLE orders (
  reference   text PRIMARY KEY NOT NULL, -- random, such as a UUID
  amount      integer NOT NULL,          -- in the smallest unit of the currency
  currency    text NOT NULL,
  created_at  text NOT NULL DEFAULT CURRENT_TIMESTAMP,
  paid_at     text,                      -- set once by the credit, and never reset
  refunded_at text                       -- a refund has a column of its own
);
