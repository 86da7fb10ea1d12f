import 'reflect-metadata';
import { Controller, Get, Module, Param, Post } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { PaymentWebhookModule } from '@paylink/nest';
import { checkout, payments } from './payments.ts';

@Controller('orders')
class OrdersController {
  @Post()
  create() {
    return checkout(15_000);
  }

  @Get(':reference')
  async read(@Param('reference') reference: string) {
    const { status } = await payments.settle(reference);
    return { status };
  }
}

@Module({
  controllers: [OrdersController],
  imports: [
    PaymentWebhookModule.forRootAsync({
      useFactory: () => ({
        url: '/webhooks/payments',
        secret: process.env.WEBHOOK_SECRET,
        handlers: payments.receive,
      }),
    }),
  ],
})
class AppModule {}

export const app = await NestFactory.create(AppModule, { logger: ['warn', 'error'] });
