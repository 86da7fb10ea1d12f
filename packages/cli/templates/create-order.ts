interface NewOrder {
  readonly reference: string;
  readonly amount: number;
  readonly currency: string;
}

/** Inserts an unpaid order. The checkout, the test and `paylink doctor` call it. */
export async function createOrder({ reference, amount, currency }: NewOrder): Promise<void> {
  INSERT;
}
