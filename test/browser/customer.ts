import type {
  Browser,
  BrowserContext,
  BrowserContextOptions,
  ConsoleMessage,
  Page,
} from 'playwright-core';
import type { PageGlobals } from './in-page.js';

/** A customer with their own browser: cookies, language and screen. */
export interface Customer {
  readonly page: Page;
  /**
   * Forbidden events of a page: a policy violation, a request to another machine, a logged error, a
   * dialog, an exception.
   */
  readonly complaints: readonly string[];
  /** Counts the forms sent to an address with this ending. */
  sent(ending: string): number;
  leave(): Promise<void>;
}

export const PHONE = { width: 360, height: 740 };
export const DESKTOP = { width: 1280, height: 800 };

// Well below the test's limit, so that the failing step is reported.
const PATIENCE = 8_000;

/** Opens a watched page. Default: an English phone. */
export async function newCustomer(
  browser: Browser,
  options: BrowserContextOptions = {},
): Promise<Customer> {
  const context = await browser.newContext({ locale: 'en-GB', viewport: PHONE, ...options });
  context.setDefaultTimeout(PATIENCE);
  const complaints: string[] = [];
  const forms: string[] = [];
  await watch(context, complaints);
  const page = await context.newPage();
  page.on('request', (request) => {
    if (request.method() === 'POST') forms.push(new URL(request.url()).pathname);
  });
  return {
    page,
    complaints,
    sent: (ending) => forms.filter((path) => path.endsWith(ending)).length,
    leave: () => context.close(),
  };
}

async function watch(context: BrowserContext, complaints: string[]): Promise<void> {
  await context.route(
    (url) => !['127.0.0.1', 'localhost'].includes(url.hostname),
    async (route) => {
      complaints.push(`request to ${new URL(route.request().url()).host}`);
      await route.abort();
    },
  );
  await context.exposeBinding('violated', (_, what: string) => complaints.push(`policy: ${what}`));
  await context.addInitScript(() => {
    const { document, violated } = globalThis as unknown as PageGlobals & {
      violated: (what: string) => void;
    };
    document.addEventListener('securitypolicyviolation', ({ effectiveDirective, blockedURI }) => {
      violated(`${effectiveDirective} ${blockedURI}`);
    });
  });
  context.on('console', (message) => {
    if (isFault(message)) complaints.push(`console: ${message.text()}`);
  });
  context.on('weberror', (error) => complaints.push(`thrown: ${error.error().message}`));
  context.on('dialog', (dialog) => {
    complaints.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
}

function isFault(message: ConsoleMessage): boolean {
  // Chromium logs this for every page with an error status, such as a refused amount.
  return (
    message.type() === 'error' &&
    !/^Failed to load resource: the server responded with a status of 4\d\d /.test(message.text())
  );
}
