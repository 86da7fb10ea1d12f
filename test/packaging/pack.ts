export { installLines, packAll, publishedPackages, withItsOwn } from '../../scripts/pack.mjs';
