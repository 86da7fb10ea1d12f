/** One name has one meaning: a reader who searches a name finds one thing. */
import { expect, it } from 'vitest';
import { packageFolders } from './package-folders.js';
import { sourcesOf } from './sources.js';

/** Names that several files export, each group with its reason. */
const SHARED: Readonly<Record<string, readonly string[]>> = {
  'every host has the same call': ['paymentWebhook', 'paymentGate', 'deliveryOf', 'readBody'],
  'two runtimes have the same HMAC': ['HmacKey', 'findMatch', 'isSynchronous', 'sign'],
  'every package checks its own options': ['Settings', 'createSettings'],
  '@paylink/testing imports no value of core': ['HeaderNames', 'validateOptions'],
  'the client reads the payment that the emulator writes': ['Payment'],
  'the command has a reply, a request and a status of its own': [
    ...['Answer', 'Reply', 'DeliveryAttempt', 'requireSecret'],
  ],
  'each feature of the command gives its own advice and report': ['adviceFor', 'showReport'],
  'testSchedules and testOrders are two suites': [
    ...['Fault', 'NewOrder', 'Source', 'Wire', 'Call', 'Database', 'Row', 'Verdict'],
    'messageOf',
  ],
};

const EXPORT =
  /^export (?:async )?(?:function\*?|class|const|let|type|interface) ([A-Za-z_$][\w$]*)/gm;

function filesByName(): Map<string, string[]> {
  const files = new Map<string, string[]>();
  for (const folder of packageFolders)
    for (const [file, text] of sourcesOf(folder))
      // Overloads repeat a name in one file.
      for (const name of new Set([...text.matchAll(EXPORT)].map(([, name]) => name!)))
        files.set(name, [...(files.get(name) ?? []), `${folder}/${file}`]);
  return files;
}

const files = filesByName();
const known = Object.values(SHARED).flat();

it('no two files export one name, unless the list has a reason', () => {
  expect(files.size).toBeGreaterThan(400);
  const shared = [...files].filter(([name, { length }]) => length > 1 && !known.includes(name));
  expect(Object.fromEntries(shared)).toEqual({});
});
