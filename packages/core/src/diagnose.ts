export { diagnose, type Diagnosis } from './diagnosis/search.js';
