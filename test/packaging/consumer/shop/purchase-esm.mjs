import { PGlite } from '@electric-sql/pglite';
import { createProcessor, enqueue } from '@paylink/bullmq';
import { createClient } from '@paylink/client';
import { startEmulator } from '@paylink/emulator';
import { paymentWebhook } from '@paylink/express';
import { createPayments } from '@paylink/payments';
import { postgresStore } from '@paylink/postgres';
import { redisStore } from '@paylink/redis';
import { Queue, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import purchase from './purchase.cjs';

const store = { PGlite, postgresStore, Redis, redisStore };
const queue = { Queue, Worker, createProcessor, enqueue };
await purchase(
  { ...store, ...queue, createClient, createPayments, startEmulator, paymentWebhook },
  process.argv[2],
);
