import { app } from './app.ts';

app.listen(3000, () => console.log('http://localhost:3000'));
