import * as core from '@paylink/core';
import * as expressWebhook from '@paylink/express';
import * as node from '@paylink/node';
import express from 'express';
import { createChecks } from './checks.cjs';
import { startHosts } from './node-hosts.cjs';

const ports = await startHosts({ node, express, expressWebhook }, createChecks(core));
console.log(JSON.stringify({ ports }));
