export { app as default } from './app.js';
