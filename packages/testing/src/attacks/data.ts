import { TEST_SECRET } from '../signed-delivery.js';
import type { Attack, Severity } from './attack.js';
import { attacks } from './index.js';
import rows from './rows.json' with { type: 'json' };

/** Raise it if the id, the bytes or the expected classes of an attack change. */
const VERSION = 1;
const REFERENCE = 'paylink-attack';

const HARM: Readonly<Record<Severity, string>> = {
  critical: 'Otherwise money is lost or taken, or an attacker gets in.',
  high: 'Otherwise payments or the server are at risk.',
  medium: 'Otherwise a fault elsewhere becomes dangerous.',
  low: 'Otherwise the sender learns nothing useful.',
  note: 'Worth knowing, but not a fault.',
};

/**
 * Creates the attacks as data, for receivers in any language: each header's bytes as Latin-1, each
 * body as base64, signed with `secret`.
 */
export function attackData() {
  return {
    version: VERSION,
    secret: TEST_SECRET,
    reference: REFERENCE,
    attacks: attacks({ reference: REFERENCE }).map((attack) => ({
      id: attack.id,
      name: attack.name,
      class: attack.category,
      headers: attack.delivery.headers,
      body: attack.delivery.rawBody.toString('base64'),
      expected: classesOf(attack),
      why: `${rows[attack.id as keyof typeof rows]}. ${HARM[attack.severity]}`,
    })),
  };
}

/** Returns the classes of harmless answers, such as `4xx`. */
function classesOf({ status, accepts }: Attack): string[] {
  const classes = [status, ...accepts].map((each) => `${Math.floor(each / 100)}xx`);
  return [...new Set(classes)].sort();
}
