import type { NextApiRequest, NextApiResponse } from 'next';
import { checkout } from '../../../payments.ts';

export default async function handler(_req: NextApiRequest, res: NextApiResponse): Promise<void> {
  res.status(201).json(await checkout(15_000));
}
