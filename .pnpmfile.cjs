module.exports = {
  hooks: {
    beforePacking: async (manifest) => (await import('./scripts/manifest.mjs')).publishedManifest(manifest),
  },
};
