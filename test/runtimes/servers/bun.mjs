import * as core from '@paylink/core';
import * as expressWebhook from '@paylink/express';
import { paymentWebhook } from '@paylink/fetch';
import * as node from '@paylink/node';
import express from 'express';
import { createChecks, SECRET } from './checks.cjs';
import createFetchHost from './fetch-host.cjs';
import { startHosts } from './node-hosts.cjs';

const checks = createChecks(core);
const handle = createFetchHost(paymentWebhook, SECRET, checks);
const serve = (options) => Bun.serve({ port: 0, hostname: '127.0.0.1', ...options }).port;
const post = (request, server) => handle(request, server);
const ports = {
  ...(await startHosts({ node, express, expressWebhook }, checks)),
  fetch: serve({ fetch: post }),
  'fetch, by a route': serve({ routes: { '/*': { POST: post } } }),
  // No reply of these closes its connection.
  'fetch, given no server': serve({ fetch: (request) => handle(request) }),
};
console.log(JSON.stringify({ ports }));
