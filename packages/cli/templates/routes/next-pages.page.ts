import type { NextApiRequest, NextApiResponse } from 'next';
import { payments } from './lib/payments';

// The page that the customer returns to. First check that the order belongs to this customer.
export default async function handler(req: NextApiRequest, res: NextApiResponse): Promise<void> {
  const { status } = await payments.settle(String(req.query['reference']));
  res.json({ status });
}
