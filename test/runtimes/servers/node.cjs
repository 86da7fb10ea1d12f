const core = require('@paylink/core');
const expressWebhook = require('@paylink/express');
const node = require('@paylink/node');
const express = require('express');
const createChecks = require('./checks.cjs');
const { SECRET, startHosts } = require('./node-hosts.cjs');

startHosts({ node, express, expressWebhook }, createChecks(core, SECRET)).then((ports) => {
  console.log(JSON.stringify({ ports }));
});
