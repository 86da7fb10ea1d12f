/** What `paylink init` writes for Nest: a controller, its guard and its test. */

export function nestWebhook(path: string): string {
  const [, controller, method] = path.split('/');
  return `import { Controller, Inject, Injectable, Post } from '@nestjs/common';
import { PaymentEvent, PaymentWebhook, PaymentWebhookGuard } from '@paylink/nest';
import type { WebhookEvent } from '@paylink/nest';

/** Your orders: provide a class of your own in its place. */
export abstract class Orders {
  /** Credits an order once, also where it is asked twice. */
  abstract credit(reference: string): Promise<void>;
}

/** Made when the application starts, after its configuration was read. */
@Injectable()
export class PaymentsGuard extends PaymentWebhookGuard {
  constructor() {
    super({ secret: process.env['WEBHOOK_SECRET'] });
  }
}

/** The webhook: the guard verifies each notification, and the method runs for those that are genuine. */
@Controller('${controller!}')
export class PaymentsController {
  constructor(@Inject(Orders) private readonly orders: Orders) {}

  @Post('${method!}')
  @PaymentWebhook(PaymentsGuard)
  async receive(@PaymentEvent() event: WebhookEvent): Promise<void> {
    await this.orders.credit(event.reference);
  }
}
`;
}

interface TestParts {
  readonly path: string;
  /** The imports of the test runner. */
  readonly runner: readonly string[];
  /** The module of the webhook. */
  readonly local: string;
  readonly cases: string;
}

export function nestTest({ path, runner, local, cases }: TestParts): string {
  return `${[...runner, "import 'reflect-metadata';"].join('\n')}
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { signedDelivery, TEST_SECRET } from '@paylink/testing';
import type { SignedDelivery } from '@paylink/testing';
import { Orders, PaymentsController, PaymentsGuard } from '${local}';

process.env['WEBHOOK_SECRET'] = TEST_SECRET;
const credited: string[] = [];
const orders: Orders = { credit: async (reference) => void credited.push(reference) };

@Module({ controllers: [PaymentsController], providers: [PaymentsGuard, { provide: Orders, useValue: orders }] })
class TestModule {}

async function send(delivery: SignedDelivery): Promise<number> {
  const app = await NestFactory.create(TestModule, { rawBody: true, logger: false });
  try {
    await app.listen(0, '127.0.0.1');
    return (await delivery.send(\`\${await app.getUrl()}${path}\`)).status;
  } finally {
    await app.close();
  }
}

${cases}`;
}
