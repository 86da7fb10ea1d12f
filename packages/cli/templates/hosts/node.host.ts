import type { IncomingMessage, ServerResponse } from 'node:http';
import { paymentRoutes } from './payment-webhook';

const listener = (req: IncomingMessage, res: ServerResponse) => void paymentRoutes(req, res);
