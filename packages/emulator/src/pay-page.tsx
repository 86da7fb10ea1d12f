import type { Child } from 'hono/jsx';
import { formatAmount, type Language } from './page-language.js';
import { STYLE } from './page-style.js';
import { TEXTS } from './page-texts.js';
import { CURRENCY, type Link } from './payment.js';

interface PageProps {
  readonly language: Language;
  readonly title: string;
  readonly children?: Child;
}

/** The frame of every page that a customer sees. */
function Page({ language, title, children }: PageProps) {
  return (
    <html lang={language}>
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>{title}</title>
        <style dangerouslySetInnerHTML={{ __html: STYLE }} />
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
  /** Names this rendering of the page, so that sending it twice pays once. */
  readonly page: string;
  /** An amount that was entered and is not one. */
  readonly wrongAmount?: string | undefined;
}

/** Where the customer pays, cancels, or lets the payment fail. */
export function PayPage({ link, language, page, wrongAmount }: PayPageProps) {
  const texts = TEXTS[language];
  const action = `/link/${link.token}`;
  return (
    <Page language={language} title={texts.title}>
      <h1>{link.description ?? texts.title}</h1>
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
      <p class="soft">
        {texts.reference} {link.reference}
      </p>
    </Page>
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

/** What a customer sees of a link that is paid or cancelled. */
export function ClosedPage({ link, language }: { readonly link: Link; readonly language: Language }) {
  const texts = TEXTS[language];
  const isPaid = link.status === 'success';
  const back = isPaid ? link.returnUrl : link.cancelUrl;
  return (
    <Page language={language} title={isPaid ? texts.paid : texts.cancelled}>
      <h1>{isPaid ? texts.paid : texts.cancelled}</h1>
      {isPaid && link.amount !== undefined && <p>{texts.paidAmount(formatAmount(link.amount, CURRENCY, language))}</p>}
      <p class="soft">
        {texts.reference} {link.reference}
      </p>
      {back !== undefined && (
        <a class="button strong" href={back}>
          {texts.back}
        </a>
      )}
    </Page>
  );
}

/** A page that only says something. */
export function MessagePage({ language, about }: { readonly language: Language; readonly about: 'notFound' | 'refused' }) {
  const texts = TEXTS[language];
  return (
    <Page language={language} title={texts[about]}>
      <h1>{texts[about]}</h1>
      <p>{about === 'notFound' ? texts.notFoundHint : texts.refusedHint}</p>
    </Page>
  );
}
