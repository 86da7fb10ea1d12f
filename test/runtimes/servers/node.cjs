const core = require('@paylink/core');
const expressWebhook = require('@paylink/express');
const node = require('@paylink/node');
const express = require('express');
const { createChecks } = require('./checks.cjs');
const { startHosts } = require('./node-hosts.cjs');

startHosts({ node, express, expressWebhook }, createChecks(core)).then((ports) => {
  console.log(JSON.stringify({ ports }));
});
