import { express4, express4Gate } from './express4.js';
import { express5, express5Gate } from './express5.js';
import type { Host } from './host.js';
import { nodeHttp } from './node.js';

export const hosts: readonly Host[] = [nodeHttp, express5, express5Gate, express4, express4Gate];

/** Where the merchant's code is a handler of ours. */
export const handlerHosts = hosts.filter(({ capabilities }) => !capabilities.gate);
export const gateHosts = hosts.filter(({ capabilities }) => capabilities.gate);
