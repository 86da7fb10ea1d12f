import express from 'express';
import type { IncomingMessage } from 'node:http';

const app = express();
app.use(
  express.json({
    verify: (req: IncomingMessage & { rawBody?: Buffer }, _res, buf) => {
      req.rawBody = buf;
    },
  }),
);
