import express from 'express';
import { paymentRoutes } from './payment-webhook';

const listener = express().use(paymentRoutes);
