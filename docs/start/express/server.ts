import { app } from './app.ts';

app.listen(3000).on('listening', () => console.log('http://localhost:3000'));
