import { close, createTable } from './orders.js';

void createTable().then(close);
