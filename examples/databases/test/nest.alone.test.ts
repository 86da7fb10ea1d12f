import 'reflect-metadata';
import type { AddressInfo } from 'node:net';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { PaymentWebhookModule } from '@paylink/nest';
import { createPayments, type Payments } from '@paylink/payments';
import { signedDelivery } from '@paylink/testing';
import { expect, it } from 'vitest';
import { openPostgres } from './on-postgres.js';
import { testRecipe, type RecipeOptions } from './suite.js';

const merchant = await openPostgres('postgres');
const { OrdersService } = await import('../nest.js');

const client = {
  getPayment: async (reference: string) =>
    ({ reference, status: 'success', amount: 1_500, currency: 'XOF' }) as const,
};
const secret = 'whsec_of_the_test_of_nest_0123456789';

@Module({
  providers: [
    OrdersService,
    {
      provide: 'PAYMENTS',
      inject: [OrdersService],
      useFactory: (orders: InstanceType<typeof OrdersService>) =>
        createPayments({ client, orders }),
    },
  ],
  exports: ['PAYMENTS'],
})
// oxlint-disable-next-line typescript/no-extraneous-class -- the form of a module
class PaymentsModule {}

@Module({
  imports: [
    PaymentsModule,
    PaymentWebhookModule.forRootAsync({
      imports: [PaymentsModule],
      inject: ['PAYMENTS'],
      useFactory: (payments: Payments) => ({
        url: '/webhooks/payments',
        secret,
        handlers: payments.receive,
      }),
    }),
  ],
})
// oxlint-disable-next-line typescript/no-extraneous-class -- the form of a module
class AppModule {}

const app = await NestFactory.create(AppModule, { logger: ['warn', 'error'] });
await app.listen(0, '127.0.0.1');

const options: RecipeOptions = {
  createOrder: ({ reference, amount, currency }) =>
    merchant.query('INSERT INTO orders (reference, amount, currency) VALUES ($1, $2, $3)', [
      reference,
      amount,
      currency,
    ]),
  later: {
    refund: (reference) =>
      merchant.query('UPDATE orders SET refunded_at = now() WHERE reference = $1', [reference]),
  },
};
testRecipe('Nest', { orders: app.get(OrdersService), close: () => app.close() }, options);

it('credits through Nest an order by the injected service', async () => {
  const order = { reference: 'by Nest', amount: 1_500, currency: 'XOF', tenant: null };
  await options.createOrder(order);
  const { port } = (app.getHttpServer() as { address(): AddressInfo }).address();
  const url = `http://127.0.0.1:${port}/webhooks/payments`;
  const { status } = await signedDelivery({ secret, reference: order.reference }).send(url);
  expect(status).toBe(200);
  const { rows } = await merchant.query("SELECT paid_at FROM orders WHERE reference = 'by Nest'");
  expect(rows).toEqual([{ paid_at: expect.any(Date) as Date }]);
});
