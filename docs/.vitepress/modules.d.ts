declare module '*.vue' {
  import type { Component } from 'vue';
  const component: Component;
  export default component;
}

declare module 'markdown-it-task-lists' {
  import type { MarkdownRenderer } from 'vitepress';
  const plugin: (md: MarkdownRenderer, options: { readonly label: boolean }) => void;
  export default plugin;
}
