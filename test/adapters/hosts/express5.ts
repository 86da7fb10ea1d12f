import express from 'express';
import { expressHosts } from './express.js';

export const [express5, express5Gate] = expressHosts('Express 5', express);
