/** These call the compiler's interface, which TypeScript 7 lacks: each gets TypeScript 5.9. */
const CALLERS = ['tsup', 'typedoc'];

module.exports = {
  hooks: {
    readPackage: (manifest) => {
      if (!CALLERS.includes(manifest.name)) return manifest;
      const { typescript, ...peerDependencies } = manifest.peerDependencies;
      const dependencies = { ...manifest.dependencies, typescript: '5.9.3' };
      const { typescript: meta, ...peerDependenciesMeta } = manifest.peerDependenciesMeta ?? {};
      return { ...manifest, dependencies, peerDependencies, peerDependenciesMeta };
    },
    beforePacking: async (manifest, folder) =>
      (await import('./scripts/manifest.mjs')).publishedManifest(manifest, folder),
  },
};
