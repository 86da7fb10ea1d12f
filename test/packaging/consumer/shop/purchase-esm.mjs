import { createClient } from '@paylink/client';
import { startEmulator } from '@paylink/emulator';
import { paymentWebhook } from '@paylink/express';
import { createPayments } from '@paylink/payments';
import Database from 'libsql';
import purchase from './purchase.cjs';

await purchase({ Database, createPayments, createClient, startEmulator, paymentWebhook });
