/** The languages of the hosted page. */
export type Language = 'fr' | 'en';

/**
 * The language of the page that an Accept-Language header likes best. English if it likes neither.
 */
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

/** An amount as people write it, with the sign of its currency. */
export function formatAmount(amount: number, currency: string, language: Language): string {
  return new Intl.NumberFormat(language, { style: 'currency', currency }).format(amount);
}
