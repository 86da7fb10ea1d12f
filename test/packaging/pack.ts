export { packAll, publishedPackages, withItsOwn } from '../../scripts/pack.mjs';
