import type { Child } from 'hono/jsx';
import { ICON_URL } from '../icon.js';
import { formatAmount, type Language } from '../language.js';
import { HOSTED_STYLE } from '../style.js';
import { TEXTS } from './texts.js';
import { CURRENCY, type Link } from '../../payments/payment.js';

interface PageProps {
  readonly language: Language;
  readonly title: string;
  readonly children?: Child;
}

/** The frame of every customer page. */
function Page({ language, title, children }: PageProps) {
  return (
    <html lang={language}>
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>{title}</title>
        <link rel="icon" href={ICON_URL} />
        <style dangerouslySetInnerHTML={{ __html: HOSTED_STYLE }} />
      </head>
      <body>
        <main>
          <p class="banner">{TEXTS[language].testPage}</p>
          {children}
        </main>
      </body>
    </html>
  );
}

interface PayPageProps {
  readonly link: Link;
  readonly language: Language;
  /** The id of this rendering. A form that is sent twice pays once. */
  readonly page: string;
  /** An entered text that is not a valid amount. */
  readonly wrongAmount?: string | undefined;
}

/** Lets the customer pay or cancel, or makes the payment fail. */
export function PayPage({ link, language, page, wrongAmount }: PayPageProps) {
  const texts = TEXTS[language];
  const action = `/link/${link.token}`;
  return (
    <Page language={language} title={texts.title}>
      <Purpose link={link} language={language} />
      {link.status === 'failed' && (
        <p class="alert" role="alert">
          {texts.failed}
        </p>
      )}
      <form method="post" action={`${action}/pay`}>
        <input type="hidden" name="page" value={page} />
        <AmountToPay link={link} language={language} wrongAmount={wrongAmount} />
      </form>
      <form method="post" action={`${action}/cancel`}>
        <button type="submit">{texts.cancel}</button>
      </form>
      <form method="post" action={`${action}/fail`}>
        <button type="submit" class="quiet">
          {texts.fail}
        </button>
      </form>
      <Reference link={link} language={language} />
    </Page>
  );
}

// Fills a few lines of a phone.
const HEADING_LENGTH = 160;

/**
 * Shows a short description as a heading. A long text scrolls, so that the button stays visible.
 */
function Purpose({
  link: { description },
  language,
}: {
  readonly link: Link;
  readonly language: Language;
}) {
  const texts = TEXTS[language];
  if (description === undefined) return <h1>{texts.title}</h1>;
  if (description.length <= HEADING_LENGTH) {
    return (
      <h1>
        <bdi>{description}</bdi>
      </h1>
    );
  }
  return (
    <>
      <h1>{texts.title}</h1>
      <div class="long" role="region" aria-label={texts.description} tabindex={0}>
        <bdi>{description}</bdi>
      </div>
    </>
  );
}

function Reference({ link, language }: { readonly link: Link; readonly language: Language }) {
  return (
    <dl class="facts">
      <dt>{TEXTS[language].reference}</dt>
      <dd>
        <bdi>{link.reference}</bdi>
      </dd>
    </dl>
  );
}

function AmountToPay({ link: { price }, language, wrongAmount }: Omit<PayPageProps, 'page'>) {
  const texts = TEXTS[language];
  const format = (amount: number): string => formatAmount(amount, CURRENCY, language);
  if ('amount' in price) {
    return (
      <>
        <p class="amount">{format(price.amount)}</p>
        <button type="submit" class="strong">
          {texts.payAmount(format(price.amount))}
        </button>
      </>
    );
  }
  const { amountMin, amountMax } = price;
  const isWrong = wrongAmount !== undefined;
  return (
    <>
      <label for="amount">{texts.amountLabel}</label>
      <input
        id="amount"
        name="amount"
        type="number"
        inputmode="numeric"
        min={amountMin}
        max={amountMax}
        step={1}
        required
        value={wrongAmount ?? ''}
        aria-describedby="bounds"
        aria-invalid={isWrong ? 'true' : undefined}
      />
      <p id="bounds" class={isWrong ? 'alert' : 'soft'} role={isWrong ? 'alert' : undefined}>
        {(isWrong ? texts.amountWrong : texts.amountBounds)(format(amountMin), format(amountMax))}
      </p>
      <button type="submit" class="strong">
        {texts.pay}
      </button>
    </>
  );
}

/** The page of a paid or cancelled link. */
export function ClosedPage({
  link,
  language,
}: {
  readonly link: Link;
  readonly language: Language;
}) {
  const texts = TEXTS[language];
  const isPaid = link.status === 'success';
  const back = isPaid ? link.returnUrl : link.cancelUrl;
  return (
    <Page language={language} title={isPaid ? texts.paid : texts.cancelled}>
      <Mark isGood={isPaid} />
      <h1>{isPaid ? texts.paid : texts.cancelled}</h1>
      {isPaid && link.amount !== undefined && (
        <p class="said">{texts.paidAmount(formatAmount(link.amount, CURRENCY, language))}</p>
      )}
      <Reference link={link} language={language} />
      {back !== undefined && (
        <a class="button strong" href={back}>
          {texts.back}
        </a>
      )}
    </Page>
  );
}

/** A tick or a line, which repeats the heading. */
function Mark({ isGood }: { readonly isGood: boolean }) {
  return (
    <div class={isGood ? 'mark good' : 'mark'} aria-hidden="true">
      <svg
        viewBox="0 0 24 24"
        fill="none"
        stroke="currentColor"
        stroke-width="2.5"
        stroke-linecap="round"
        stroke-linejoin="round"
      >
        <path d={isGood ? 'M5 12.5l4.5 4.5L19 7.5' : 'M6 12h12'} />
      </svg>
    </div>
  );
}

/** A page with only a message. */
export function MessagePage({
  language,
  about,
}: {
  readonly language: Language;
  readonly about: 'notFound' | 'refused';
}) {
  const texts = TEXTS[language];
  return (
    <Page language={language} title={texts[about]}>
      <Mark isGood={false} />
      <h1>{texts[about]}</h1>
      <p class="said">{about === 'notFound' ? texts.notFoundHint : texts.refusedHint}</p>
    </Page>
  );
}
