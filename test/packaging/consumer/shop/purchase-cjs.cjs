const purchase = require('./purchase.cjs');

const parts = ['bullmq', 'client', 'emulator', 'express', 'payments'].map((name) =>
  require(`@paylink/${name}`),
);
const drivers = ['@electric-sql/pglite', 'bullmq'].map((name) => require(name));
purchase(Object.assign({}, ...drivers, ...parts), process.argv[2]);
