import type { NextApiRequest, NextApiResponse } from 'next';
import { payments } from '../../../payments.ts';

export default async function handler(req: NextApiRequest, res: NextApiResponse): Promise<void> {
  const reference = String(req.query['reference']);
  const { status } = await payments.settle(reference);
  res.json({ status });
}
