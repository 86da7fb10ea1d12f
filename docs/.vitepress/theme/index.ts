import type { Theme } from 'vitepress';
import { defineAsyncComponent } from 'vue';
// Without its fonts: those of the reader's system need no request.
import DefaultTheme from 'vitepress/theme-without-fonts';
import PageLayout from './PageLayout.vue';
import './style.css';

export default {
  extends: DefaultTheme,
  Layout: PageLayout,
  enhanceApp: ({ app }) => {
    // Loaded by the one page that has it.
    app.component(
      'DiagnoseForm',
      defineAsyncComponent(() => import('./DiagnoseForm.vue')),
    );
  },
} satisfies Theme;
