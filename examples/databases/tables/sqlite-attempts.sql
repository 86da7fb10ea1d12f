CREATE TABLE purchases (
  id             text PRIMARY KEY NOT NULL,
  amount         integer NOT NULL,
  currency       text NOT NULL,
  paid_reference text -- the link that was paid: set once by the credit, and never reset
);
CREATE TABLE attempts (
  reference  text PRIMARY KEY NOT NULL, -- of one link, and never overwritten by the next one
  purchase   text NOT NULL REFERENCES purchases,
  created_at text NOT NULL DEFAULT CURRENT_TIMESTAMP
);
