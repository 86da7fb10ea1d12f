export {
  begin,
  chunked,
  closeWires,
  exchange,
  requestBytes,
  Wire,
  type HeaderLines,
  type WireReply,
} from '../../packages/testing/src/wire.js';
