export {
  begin,
  closeWires,
  exchange,
  Wire,
  type WireReply,
} from '../../packages/testing/src/wire.js';
