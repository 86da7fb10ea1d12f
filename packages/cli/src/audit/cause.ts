/** A receiver's faults, each with its severity, its title and its fix. */
import type { Fault, Severity } from '@paylink/testing/internal';
import texts from './texts.json';

/** The id of a fault. The ids are stable. */
// oxfmt-ignore
export type CauseId =
  | Fault | 'not_acknowledged' | 'crashes' | 'hangs' | 'fails_genuine' | 'parses_first'
  | 'no_deadline' | 'one_at_a_time' | 'stops_serving' | 'refuses_duplicates' | 'tells_reason'
  | 'quotes_body' | 'leaks_secret' | 'leaks_trace';

type Texts = Readonly<Partial<Record<string, string>>>;
const FIXES: Texts = texts.fixes;
/** The fixes for receivers that already verify the raw bytes. */
export const FOR_RAW_BYTES: Texts = texts.forRawBytes;
const RAW_BODY: Texts = texts.rawBody;
const COMPARE: Texts = texts.compare;

/** The severity and the title of each cause. */
export const CAUSES = Object.fromEntries(
  Object.entries(texts.causes).flatMap(([severity, titles]) =>
    Object.entries(titles).map(([id, title]) => [id, { severity, title }]),
  ),
) as Readonly<Record<CauseId, { readonly severity: Severity; readonly title: string }>>;

/** Returns the fix in one line, for the framework if it is known. */
export function fixOf(id: CauseId, framework = ''): string {
  return (FIXES[id] ?? 'Verify the bytes as received, before any parser: {rawBody}.')
    .replace('{rawBody}', RAW_BODY[framework] ?? 'take the raw body of the request')
    .replace('{compare}', COMPARE[framework] ?? 'crypto.timingSafeEqual');
}
