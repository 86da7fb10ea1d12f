const purchase = require('./purchase.cjs');

const parts = ['bullmq', 'client', 'emulator', 'express', 'payments'].map((name) =>
  require(`@paylink/${name}`),
);
const drivers = { Database: require('libsql'), ...require('bullmq') };
purchase(Object.assign(drivers, ...parts), process.argv[2]);
