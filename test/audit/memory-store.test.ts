import { memoryStore } from '@paylink/core';
import { testIdempotencyStore } from '@paylink/testing';
import { describe, it } from 'vitest';

testIdempotencyStore('memoryStore', () => memoryStore(), { describe, it });
