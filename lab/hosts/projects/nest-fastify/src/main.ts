import 'reflect-metadata';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { PaymentWebhookModule } from '@paylink/nest';
import { handlers, options } from './orders.js';

@Module({
  imports: [
    PaymentWebhookModule.forRootAsync({
      useFactory: () => ({
        url: '/webhooks/payments',
        secret: process.env.WEBHOOK_SECRET,
        handlers,
        ...options,
      }),
    }),
  ],
})
class AppModule {}

const app = await NestFactory.create(AppModule, new FastifyAdapter());
await app.listen(Number(process.env.PORT), '127.0.0.1');
