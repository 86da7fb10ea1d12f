import { app } from './app.ts';

export default { port: 3000, fetch: app };
