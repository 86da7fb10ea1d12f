export { begin, closeWires, exchange, Wire, type Ending, type WireReply } from '@paylink/testing/wire';
