import type { IncomingMessage, ServerResponse } from 'node:http';
import type { NextApiRequest, NextApiResponse } from 'next';
import { webhook } from './payment-webhook';

const listener = (req: IncomingMessage, res: ServerResponse) =>
  void webhook(req as NextApiRequest, res as NextApiResponse);
