CREATE TABLE orders (
  reference   varchar(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin PRIMARY KEY, -- random; ord-1 is not ORD-1
  amount      bigint NOT NULL,   -- in the smallest unit of the currency
  currency    varchar(3) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  created_at  datetime NOT NULL DEFAULT CURRENT_TIMESTAMP,
  paid_at     datetime NULL,     -- never timestamp, which may get a default or ON UPDATE
  refunded_at datetime NULL      -- a refund has a column of its own
);
