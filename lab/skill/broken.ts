/** The mistakes of people who leave out a rule of the skill, each planted in a right receiver. */
export interface BrokenReceiver {
  /** The right receiver, a file of receivers/. */
  readonly from: string;
  readonly without: string;
  /** The judge that must see it. */
  readonly seenBy: 'audit' | 'testOrders' | 'testSchedules';
  /** The changed file, by default the receiver itself. */
  readonly file?: string;
  /** Texts that stand in the file once, each with its replacement. */
  readonly changes: readonly (readonly [search: string, replace: string])[];
}

const WEBHOOK = `app.post(
  '/webhooks/payments',
  paymentWebhook({ secret: process.env.WEBHOOK_SECRET }, payments.receive),
);
`;
const PARSER = 'app.use(express.json());\n';

export const BROKEN: Readonly<Record<string, BrokenReceiver>> = {
  'express-by-hand': {
    from: 'express-libsql.mjs',
    without: 'rule 1: no HMAC by hand, no JSON.stringify(body)',
    seenBy: 'audit',
    changes: [
      ['import express', "import { createHmac } from 'node:crypto';\nimport express"],
      [
        `${WEBHOOK}${PARSER}`,
        `${PARSER}app.post('/webhooks/payments', async (req, res) => {
  const hmac = createHmac('sha256', process.env.WEBHOOK_SECRET).update(JSON.stringify(req.body));
  if (hmac.digest('hex') !== req.get('X-Service-Signature')) return res.sendStatus(401);
  await payments.receive({ type: 'payment.succeeded', ...req.body });
  res.json({ received: true });
});
`,
      ],
    ],
  },
  'express-parser-first': {
    from: 'express-libsql.mjs',
    without: 'rule 1: the webhook above every body parser',
    seenBy: 'audit',
    changes: [[`${WEBHOOK}${PARSER}`, `${PARSER}${WEBHOOK}`]],
  },
  'express-without-amount': {
    from: 'express-libsql.mjs',
    without: 'rule 6: the amount and the currency in the condition',
    seenBy: 'testOrders',
    file: 'payments/libsql.mjs',
    changes: [
      [' AND amount = ? AND currency = ?', ''],
      ['update.run(reference, amount, currency)', 'update.run(reference)'],
    ],
  },
  'express-effects-outside': {
    from: 'express-pg-receipts.ts',
    without: 'rule 7: more writes in the transaction of the credit',
    seenBy: 'testSchedules',
    changes: [
      ["      await connection.query('BEGIN');\n", ''],
      ["      await connection.query('COMMIT');\n", ''],
    ],
  },
  'fastify-read-then-write': {
    from: 'fastify-pg.ts',
    without: 'rule 6: one conditional write',
    seenBy: 'testSchedules',
    file: 'payments/pg.ts',
    changes: [
      [
        'const { rowCount }',
        `const { rows } = await pool.query<Order>(
      'SELECT amount, currency, paid_at IS NOT NULL AS paid FROM orders WHERE reference = $1',
      [reference],
    );
    const [order] = rows;
    if (order === undefined || order.paid) return 0;
    if (order.amount !== amount || order.currency !== currency) return 0;
    const { rowCount }`,
      ],
      [' AND amount = $2 AND currency = $3 AND paid_at IS NULL', ''],
      ['      [reference, amount, currency],\n    );', '      [reference],\n    );'],
    ],
  },
  'hono-same-reference': {
    from: 'hono-memory.mjs',
    without: 'rule 3: a unique reference',
    seenBy: 'testOrders',
    changes: [["  if (rows.has(reference)) throw new Error('an order has this reference');\n", '']],
  },
  'node-pg-without-tenant': {
    from: 'node-pg-tenants.ts',
    without: 'rule 10: the tenant in every condition',
    seenBy: 'testOrders',
    changes: [
      [
        'merchant IS NOT DISTINCT FROM $1 AND reference = $2`,\n      [tenant, reference],',
        'reference = $1`,\n      [reference],',
      ],
      [
        'merchant IS NOT DISTINCT FROM $1 AND reference = $2 AND amount = $3 AND currency = $4',
        'reference = $1 AND amount = $2 AND currency = $3',
      ],
      [
        '[tenant, reference, amount, currency],\n    );\n    return',
        '[reference, amount, currency],\n    );\n    return',
      ],
    ],
  },
};
