import { sign, verify } from '@octokit/webhooks-methods';
import { SECRET } from '../delivery.js';
import type { Library } from './library.js';

/** Verifies text and leaves the parsing to its user. */
export const octokit: Library = {
  name: '@octokit/webhooks-methods, then JSON.parse',
  prepare(body) {
    const signature = sign(SECRET, body.toString());
    return async () => {
      const text = body.toString();
      if (!(await verify(SECRET, text, await signature))) throw new Error('wrong signature');
      return JSON.parse(text) as unknown;
    };
  },
};
