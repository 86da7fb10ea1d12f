import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import type { Order, Orders } from '@paylink/payments';
import { Pool } from 'pg';

const connectionString = process.env['DATABASE_URL'];

@Injectable()
export class OrdersService implements Orders, OnModuleDestroy {
  readonly #pool = new Pool({ connectionString });
  // A separate pool, so that find sees only committed rows.
  readonly #reader = new Pool({ connectionString, max: 2 });

  constructor() {
    // Without a listener, a lost connection would end the process.
    for (const each of [this.#pool, this.#reader])
      each.on('error', (error) => console.error(error));
  }
  async find(reference: string): Promise<Order | undefined> {
    const select = `SELECT reference, amount, currency, paid_at IS NOT NULL AS paid FROM orders
      WHERE reference = $1`;
    return (await this.#reader.query<Order>(select, [reference])).rows[0];
  }
  async credit({ reference, amount, currency }: Parameters<Orders['credit']>[0]) {
    const update = `UPDATE orders SET paid_at = now()
      WHERE reference = $1 AND amount = $2 AND currency = $3 AND paid_at IS NULL`;
    return (await this.#pool.query(update, [reference, amount, currency])).rowCount;
  }
  unpaid = () => this.#references('paid_at IS NULL');
  paid = () => this.#references('paid_at IS NOT NULL');

  async #references(condition: string): Promise<string[]> {
    const lastMonth = "created_at > now() - interval '30 days'";
    const select = `SELECT reference FROM orders
      WHERE ${lastMonth} AND ${condition} ORDER BY created_at`;
    return (await this.#reader.query<Order>(select)).rows.map(({ reference }) => reference);
  }
  async onModuleDestroy(): Promise<void> {
    await Promise.all([this.#pool.end(), this.#reader.end()]);
  }
}
