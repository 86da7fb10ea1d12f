-- Strapi 5's table for a collection type `order` on PostgreSQL, without its foreign keys.
CREATE TABLE orders (
  id            serial PRIMARY KEY,
  document_id   varchar(255),
  reference     varchar(255),
  amount        bigint,
  currency      varchar(255),
  paid_at       timestamp(6), -- set once by the credit, and never reset
  refunded_at   timestamp(6),
  created_at    timestamp(6),
  updated_at    timestamp(6),
  published_at  timestamp(6), -- null in the row of the draft
  created_by_id integer,
  updated_by_id integer,
  locale        varchar(255)
);
-- Strapi does not create this index. Create it in `bootstrap`, or two orders can share a payment.
CREATE UNIQUE INDEX IF NOT EXISTS orders_reference ON orders (reference) WHERE published_at IS NOT NULL;
