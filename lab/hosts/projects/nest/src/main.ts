import 'reflect-metadata';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { paymentWebhook } from '@paylink/express';
import { options, payments } from './orders.js';

@Module({})
class AppModule {}

const app = await NestFactory.create<NestExpressApplication>(AppModule);
// Before Nest puts its parsers in front of the controllers: this one route has the bytes, and no
// other changes.
app.use(
  '/webhooks/payments',
  paymentWebhook({ secret: process.env.WEBHOOK_SECRET, ...options }, payments),
);

await app.listen(Number(process.env.PORT), '127.0.0.1');
