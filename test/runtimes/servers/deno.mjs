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
const server = Deno.serve(
  { port: 0, hostname: '127.0.0.1', onListen: () => undefined },
  (request) => handle(request),
);
const ports = {
  ...(await startHosts({ node, express, expressWebhook }, checks)),
  fetch: server.addr.port,
};
console.log(JSON.stringify({ ports }));
