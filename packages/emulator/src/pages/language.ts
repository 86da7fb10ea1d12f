export type Language = 'fr' | 'en';

/** Chooses the language that an Accept-Language header prefers. Default English. */
export function chooseLanguage(header: string | undefined): Language {
  const wishes = (header ?? '').split(',').map((range) => {
    const [tag = '', ...parameters] = range.trim().toLowerCase().split(';');
    const quality = parameters
      .map((parameter) => /^\s*q\s*=\s*([\d.]+)\s*$/.exec(parameter)?.[1])
      .find(Boolean);
    return { language: tag.split('-')[0], quality: quality === undefined ? 1 : Number(quality) };
  });
  const best = wishes
    .filter(({ language, quality }) => quality > 0 && (language === 'fr' || language === 'en'))
    .sort((a, b) => b.quality - a.quality)[0];
  return best?.language === 'fr' ? 'fr' : 'en';
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
