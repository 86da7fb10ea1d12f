import { app } from './app.ts';

await app.listen({ port: 3000 });
console.log('http://localhost:3000');
