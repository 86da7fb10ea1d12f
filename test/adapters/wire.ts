export { begin, closeWires, exchange, Wire, type WireReply } from '@paylink/testing/wire';
