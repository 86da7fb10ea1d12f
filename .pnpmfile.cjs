module.exports = {
  hooks: {
    beforePacking: async (manifest, folder) =>
      (await import('./scripts/manifest.mjs')).publishedManifest(manifest, folder),
  },
};
