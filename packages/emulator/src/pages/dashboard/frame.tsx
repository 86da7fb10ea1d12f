import type { Child } from 'hono/jsx';
import { Document } from '../document.js';
import { Icon } from '../icon.js';
import { DASHBOARD_STYLE, sourceOfText } from '../style.js';
import { DASHBOARD_SCRIPT } from './script.js';
import { useTexts } from './texts.js';

/** Lets the dashboard load and run only its own style and script. */
export const DASHBOARD_POLICY = [
  "default-src 'none'",
  `style-src ${sourceOfText(DASHBOARD_STYLE)}`,
  `script-src ${sourceOfText(DASHBOARD_SCRIPT)}`,
  "connect-src 'self'",
  'img-src data:',
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

interface FrameProps {
  readonly title: string;
  readonly children?: Child;
}

export function DashboardFrame({ title, children }: FrameProps) {
  const texts = useTexts();
  return (
    <Document title={title} style={DASHBOARD_STYLE}>
      <header class="bar">
        <div>
          <a class="brand" href="/dashboard">
            <Icon />
            Paylink
          </a>
          <p class="banner">{texts.testOnly}</p>
          <p
            class="live"
            id="live"
            role="status"
            hidden
            data-texts={JSON.stringify({ live: texts.live, waiting: texts.waiting })}
          />
        </div>
      </header>
      <main>{children}</main>
      <script dangerouslySetInnerHTML={{ __html: DASHBOARD_SCRIPT }} />
    </Document>
  );
}

export function BackLink() {
  return (
    <a class="back" href="/dashboard">
      ← {useTexts().back}
    </a>
  );
}

/** A dashboard page with only a message. */
export function DashboardMessage({ about }: { readonly about: 'notFound' | 'refused' }) {
  const texts = useTexts();
  return (
    <DashboardFrame title={texts[about]}>
      <BackLink />
      <h1>{texts[about]}</h1>
      <p class="lead">{texts[`${about}Hint`]}</p>
    </DashboardFrame>
  );
}
