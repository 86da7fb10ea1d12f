const purchase = require('./purchase.cjs');

const parts = ['bullmq', 'client', 'emulator', 'express', 'payments', 'postgres', 'redis'].map(
  (name) => require(`@paylink/${name}`),
);
const drivers = ['@electric-sql/pglite', 'bullmq', 'ioredis'].map((name) => require(name));
purchase(Object.assign({}, ...drivers, ...parts), process.argv[2]);
