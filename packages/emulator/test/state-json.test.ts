import { expect, it } from 'vitest';
import { fromJson, toJson } from '../src/state/json.js';

it.each<[string, unknown]>([
  [
    'dates and bytes',
    { at: new Date(0), bytes: Buffer.from('a body'), list: [new Date(1), null, 'text', 7] },
  ],
  [
    'a header of a reply whose name is $date or $bytes',
    { headers: { $date: 'today', $bytes: 'two', $$date: 'x', $: 'y', a$b: 'z' } },
  ],
])('the JSON of the state keeps %s', (_, value) => {
  expect(fromJson(JSON.parse(JSON.stringify(toJson(value))))).toEqual(value);
});
