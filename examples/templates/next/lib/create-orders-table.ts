import { close, createTable } from './orders';

void createTable().then(close);
