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
    .filter(
      (wish): wish is { language: Language; quality: number } =>
        wish.quality > 0 && isLanguage(wish.language),
    )
    .sort((a, b) => b.quality - a.quality)[0];
  return best?.language ?? 'en';
}

function isLanguage(tag: string | undefined): tag is Language {
  return tag === 'fr' || tag === 'en';
}

/** Formats an amount with its currency sign. */
export function formatAmount(amount: number, currency: string, language: Language): string {
  return new Intl.NumberFormat(language, { style: 'currency', currency }).format(amount);
}
