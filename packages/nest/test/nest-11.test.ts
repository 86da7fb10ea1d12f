import * as nest from './nest-11.js';
import { testNest } from './suite.js';

testNest('Nest 11', nest);
