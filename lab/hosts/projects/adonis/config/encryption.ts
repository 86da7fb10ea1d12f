import { defineConfig, drivers } from '@adonisjs/core/encryption';

export default defineConfig({
  default: 'gcm',
  list: { gcm: drivers.aes256gcm({ id: 'gcm', keys: ['not-a-secret-of-a-shop-but-long-enough'] }) },
});
