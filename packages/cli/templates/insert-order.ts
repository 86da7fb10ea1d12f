interface NewOrder {
  readonly reference: string;
  readonly amount: number;
  readonly currency: string;
}

export async function insertOrder({ reference, amount, currency }: NewOrder): Promise<void> {
  INSERT;
}
