import type { Theme } from 'vitepress';
// Without its fonts: those of the reader's system need no request.
import DefaultTheme from 'vitepress/theme-without-fonts';
import './style.css';

export default { extends: DefaultTheme } satisfies Theme;
