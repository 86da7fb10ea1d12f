ALTER TABLE orders ADD wallet text NOT NULL DEFAULT 'ada';
CREATE TABLE wallets (id text PRIMARY KEY, balance bigint NOT NULL);
CREATE TABLE outbox (kind text NOT NULL, reference text NOT NULL, UNIQUE (kind, reference));
ALTER TABLE wallets ENABLE ROW LEVEL SECURITY;
ALTER TABLE outbox ENABLE ROW LEVEL SECURITY;

-- One call is one transaction. Returns the number of credited orders.
CREATE FUNCTION credit_order(paid_reference text, paid_amount bigint, paid_currency text)
RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
  credited_wallet text;
BEGIN
  UPDATE orders SET paid_at = now()
  WHERE reference = paid_reference AND amount = paid_amount AND currency = paid_currency AND paid_at IS NULL
  RETURNING wallet INTO credited_wallet;
  IF NOT FOUND THEN
    RETURN 0;
  END IF;
  INSERT INTO wallets VALUES (credited_wallet, paid_amount)
  ON CONFLICT (id) DO UPDATE SET balance = wallets.balance + excluded.balance;
  INSERT INTO outbox VALUES ('receipt', paid_reference);
  RETURN 1;
END $$;
-- Without this line, the keys in browsers and apps can call the function.
REVOKE EXECUTE ON FUNCTION credit_order FROM PUBLIC, anon, authenticated;
GRANT EXECUTE ON FUNCTION credit_order TO service_role;
-- The function runs with its caller's rights.
GRANT SELECT, INSERT, UPDATE ON wallets TO service_role;
GRANT INSERT ON outbox TO service_role;
