import { createProcessor, enqueue } from '@paylink/bullmq';
import { createClient } from '@paylink/client';
import { startEmulator } from '@paylink/emulator';
import { paymentWebhook } from '@paylink/express';
import { createPayments, memoryOrders } from '@paylink/payments';
import { Queue, Worker } from 'bullmq';
import Database from 'libsql';
import purchase from './purchase.cjs';

const queue = { Queue, Worker, createProcessor, enqueue };
const money = { Database, createPayments, memoryOrders };
await purchase(
  { ...money, ...queue, createClient, startEmulator, paymentWebhook },
  process.argv[2],
);
