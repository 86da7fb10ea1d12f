export { packAll, publishedPackages } from '../../scripts/pack.mjs';
