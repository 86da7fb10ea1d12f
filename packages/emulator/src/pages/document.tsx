import type { Child } from 'hono/jsx';
import { useLanguage } from './language.js';

export interface DocumentProps {
  readonly title: string;
  readonly style: string;
  readonly children?: Child;
}

/** The HTML document of every page. */
export function Document({ title, style, children }: DocumentProps) {
  return (
    <html lang={useLanguage()}>
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>{title}</title>
        <link rel="icon" href="data:," />
        <style dangerouslySetInnerHTML={{ __html: style }} />
      </head>
      <body>{children}</body>
    </html>
  );
}
