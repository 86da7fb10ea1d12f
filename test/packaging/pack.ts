export {
  installLines,
  packAll,
  packedAll,
  publishedPackages,
  withItsOwn,
} from '../../scripts/pack.mjs';
