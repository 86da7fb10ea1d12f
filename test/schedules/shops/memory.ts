/** A merchant's module without a database. */
const paid = new Set<string>();
export const orders = {
  find: (reference: string) => ({
    reference,
    amount: 1_500,
    currency: 'XOF',
    paid: paid.has(reference),
  }),
  credit: ({ reference }: { readonly reference: string }) => paid.add(reference) && 1,
};
