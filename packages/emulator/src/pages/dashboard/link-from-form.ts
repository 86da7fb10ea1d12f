import { randomBytes } from 'node:crypto';
import type { Assumed } from '../../assumed.js';
import type { LinkField } from './texts.js';
import { readWholeNumber } from '../../payments/entered-amount.js';
import type { Ledger } from '../../payments/ledger.js';
import type { LinkFormValues } from './link-form.js';
import { readLinkRequest } from '../../api/link-request.js';
import { ServiceError } from '../../api/service-error.js';

const TEXTS: readonly LinkField[] = ['reference', 'description', 'return_url', 'cancel_url'];
const AMOUNTS: Readonly<Record<'fixed' | 'free', readonly LinkField[]>> = {
  fixed: ['amount'],
  free: ['amount_min', 'amount_max'],
};

export type FormOutcome =
  { readonly token: string } | { readonly values: LinkFormValues; readonly wrongField: LinkField };

/** Creates a link from a form by the API's rules, or returns the form with the wrong field. */
export function createFromForm(
  form: URLSearchParams,
  { ledger, assumed }: { ledger: Ledger; assumed: Assumed },
): FormOutcome {
  const values = Object.fromEntries(form) as LinkFormValues;
  try {
    return { token: ledger.create(readLinkRequest(toBody(form), assumed), undefined).token };
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return { values, wrongField: (error.field ?? 'reference') as LinkField };
  }
}

/** Proposes an unused reference. */
export function newReference(): string {
  return `order-${randomBytes(4).toString('hex')}`;
}

/** Returns the body that a merchant's server would send, without empty fields. */
function toBody(form: URLSearchParams): Uint8Array {
  const fields: Record<string, unknown> = {};
  for (const name of AMOUNTS[form.get('kind') === 'free' ? 'free' : 'fixed']) {
    const entered = form.get(name) ?? '';
    // Passes other texts on unchanged, so that the API's rules refuse them by field name.
    fields[name] = readWholeNumber(entered) ?? entered;
  }
  for (const name of TEXTS) if ((form.get(name) ?? '') !== '') fields[name] = form.get(name);
  if (form.get('single_use') === 'true') fields['single_use'] = true;
  return new TextEncoder().encode(JSON.stringify(fields));
}
