import { app } from './app.ts';

await app.listen(3000);
console.log('http://localhost:3000');
