import * as nest from './nest-11.js';
import { testNest } from './suite.js';

// R05 and the others: suite.ts has the tests of every version.
testNest('Nest 11', nest);
