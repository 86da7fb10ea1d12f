import { createContext, useContext } from 'hono/jsx';
import { CURRENCY } from '../contract/payment.js';

export type Language = 'fr' | 'en';

export const LanguageContext = createContext<Language>('en');

/** Returns the language of the page that is rendered. */
export const useLanguage = (): Language => useContext(LanguageContext);

/** Chooses the first known language of an Accept-Language header. Default English. */
export function chooseLanguage(header = ''): Language {
  const tags = header.split(',').map((range) => range.trim().slice(0, 2).toLowerCase());
  return tags.find((tag) => tag === 'fr' || tag === 'en') === 'fr' ? 'fr' : 'en';
}

/** Formats an amount with the currency sign. */
export function formatAmount(amount: number, language: Language): string {
  return new Intl.NumberFormat(language, { style: 'currency', currency: CURRENCY }).format(amount);
}
