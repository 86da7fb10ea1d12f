import { memoryOrders } from '@paylink/payments';

// Before customers pay, keep the orders in a database: a restart loses them. Some hosts load a
// module once per route.
const kept = globalThis as { memory?: ReturnType<typeof memoryOrders> };
const memory = (kept.memory ??= memoryOrders());

export const orders = memory.orders;

export const close = (): void => undefined;
