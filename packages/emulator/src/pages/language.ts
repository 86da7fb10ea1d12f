import { createContext, useContext } from 'hono/jsx';

export type Language = 'fr' | 'en';

export const LanguageContext = createContext<Language>('en');

/** Returns the language of the page that is rendered. */
export const useLanguage = (): Language => useContext(LanguageContext);

/** Chooses the first known language of an Accept-Language header. Default English. */
export function chooseLanguage(header = ''): Language {
  const tags = header.split(',').map((range) => range.trim().slice(0, 2).toLowerCase());
  return tags.find((tag) => tag === 'fr' || tag === 'en') === 'fr' ? 'fr' : 'en';
}

/** Formats an amount with its currency sign. */
export function formatAmount(amount: number, currency: string, language: Language): string {
  return new Intl.NumberFormat(language, { style: 'currency', currency }).format(amount);
}

const UNITS = [
  ['second', 60],
  ['minute', 60],
  ['hour', 24],
  ['day', Infinity],
] as const;

/** Tells the time from now to an instant: "2 minutes ago", "in 5 seconds". */
export function formatFromNow(at: Date, language: Language): string {
  const format = new Intl.RelativeTimeFormat(language, { numeric: 'auto' });
  let amount = (at.getTime() - Date.now()) / 1_000;
  for (const [unit, size] of UNITS) {
    if (Math.abs(amount) < size) return format.format(Math.trunc(amount), unit);
    amount /= size;
  }
  return '';
}
