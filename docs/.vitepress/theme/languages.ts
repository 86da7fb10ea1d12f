/**
 * Replaces the theme's module of the same function: its language menu leads to the same page if
 * that page exists in the other language, and else to the home page.
 */
import { useData } from 'vitepress';
import { computed } from 'vue';

const homeOf = (locale: string): string => (locale === 'root' ? '/' : `/${locale}/`);

export function useLangs() {
  const { site, localeIndex, frontmatter } = useData();
  const currentLang = computed(() => ({
    label: site.value.locales[localeIndex.value]?.label,
    link: homeOf(localeIndex.value),
  }));
  const localeLinks = computed(() =>
    Object.entries(site.value.locales)
      .filter(([locale]) => locale !== localeIndex.value)
      .map(([locale, { label }]) => ({
        text: label,
        link: (frontmatter.value['translation'] as string | undefined) ?? homeOf(locale),
      })),
  );
  return { localeLinks, currentLang };
}
