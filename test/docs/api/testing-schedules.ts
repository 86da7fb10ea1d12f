import test from 'node:test';
import { testSchedules } from '@paylink/testing/schedules';
import { createOrder } from './shop.js';

// #region testSchedules
testSchedules({
  test,
  module: './payments.js',
  databaseUrl: process.env['DATABASE_URL']!,
  createOrder,
});
// #endregion
