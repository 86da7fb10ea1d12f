import type { DefaultTheme as Options, Theme } from 'vitepress';
// Without its fonts: those of the reader's system need no request.
import DefaultTheme from 'vitepress/theme-without-fonts';
import PageLayout from './PageLayout.vue';
import './style.css';

/** The options of the default theme, and of PageLayout. */
export interface SiteTheme extends Options.Config {
  readonly version?: string;
  readonly smallPrint?: string;
}

export default {
  extends: DefaultTheme,
  Layout: PageLayout,
} satisfies Theme;
