/** The recipe that the bundle puts in this place. */
declare module 'recipe' {
  export const orders: import('@paylink/payments').Orders;
}
