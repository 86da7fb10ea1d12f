import { vi } from 'vitest';
import * as nest from './nest-10/index.js';
import type * as nest11 from './nest-11.js';
import { testNest } from './suite.js';

// The package must get the copy of Nest that the application uses.
vi.mock('@nestjs/common', () => import('./nest-10/index.js').then(({ common }) => common));
vi.mock('@nestjs/core', () => import('./nest-10/index.js').then(({ core }) => core));

testNest('Nest 10', nest as unknown as typeof nest11);
