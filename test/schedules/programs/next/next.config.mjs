import { fileURLToPath } from 'node:url';

export default {
  outputFileTracingRoot: fileURLToPath(new URL('../../../..', import.meta.url)),
  serverExternalPackages: ['@prisma/client', '@prisma/adapter-pg'],
  webpack(config) {
    // The recipe imports as Node does: `client.js` is the file client.ts.
    config.resolve.extensionAlias = { '.js': ['.ts', '.js'] };
    return config;
  },
};
