const purchase = require('./purchase.cjs');

const parts = ['client', 'emulator', 'express', 'payments'].map((name) =>
  require(`@paylink/${name}`),
);
purchase(Object.assign({ Database: require('libsql') }, ...parts));
