import type { Child } from 'hono/jsx';
import { CURRENCY, type Link } from '../../contract/payment.js';
import { ICON_URL } from '../icon.js';
import { formatAmount, type Language } from '../language.js';
import { HOSTED_STYLE } from '../style.js';
import { TEXTS } from './texts.js';

interface Shown {
  readonly language: Language;
  readonly merchant: string | undefined;
}

interface PageProps extends Shown {
  readonly title: string;
  readonly children?: Child;
}

/** The frame of every customer page. */
function Page({ language, merchant, title, children }: PageProps) {
  return (
    <html lang={language}>
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>{merchant === undefined ? title : `${title} – ${merchant}`}</title>
        <link rel="icon" href={ICON_URL} />
        <style dangerouslySetInnerHTML={{ __html: HOSTED_STYLE }} />
      </head>
      <body>
        <main>
          <p class="banner">{TEXTS[language].testPage}</p>
          {merchant !== undefined && (
            <p class="merchant">
              <bdi>{merchant}</bdi>
            </p>
          )}
          {children}
        </main>
      </body>
    </html>
  );
}

interface PayPageProps extends Shown {
  readonly link: Link;
  /** The id of this rendering. A form that is sent twice pays once. */
  readonly page: string;
  /** The text that the customer entered before, and whether the link refuses it. */
  readonly entered: { readonly text: string; readonly isWrong: boolean };
}

/** Lets the customer pay or cancel, or makes the payment fail. */
export function PayPage({ link, page, entered, ...shown }: PayPageProps) {
  const texts = TEXTS[shown.language];
  const action = `/link/${link.token}`;
  return (
    <Page {...shown} title={texts.title}>
      <Purpose link={link} language={shown.language} />
      {link.status === 'failed' && (
        <p class="alert" role="alert">
          {texts.tryAgain}
        </p>
      )}
      <form method="post" action={`${action}/pay`}>
        <input type="hidden" name="page" value={page} />
        <AmountToPay link={link} language={shown.language} entered={entered} />
      </form>
      <form method="post" action={`${action}/cancel`}>
        <button type="submit">{texts.cancel}</button>
      </form>
      <form method="post" action={`${action}/fail`}>
        <button type="submit" class="quiet">
          {texts.fail}
        </button>
      </form>
      <Reference link={link} language={shown.language} />
    </Page>
  );
}

// Fills a few lines of a phone.
const HEADING_LENGTH = 160;

interface LinkProps {
  readonly link: Link;
  readonly language: Language;
}

/**
 * Shows a short description as a heading. A long text scrolls, so that the button stays visible.
 */
function Purpose({ link: { description }, language }: LinkProps) {
  const texts = TEXTS[language];
  const isLong = description !== undefined && description.length > HEADING_LENGTH;
  return (
    <>
      <h1>
        <bdi>{isLong ? texts.title : (description ?? texts.title)}</bdi>
      </h1>
      {isLong && (
        <div class="long" role="region" aria-label={texts.description} tabindex={0}>
          <bdi>{description}</bdi>
        </div>
      )}
    </>
  );
}

function Reference({ link, language }: LinkProps) {
  return (
    <dl class="facts">
      <dt>{TEXTS[language].reference}</dt>
      <dd>
        <bdi>{link.reference}</bdi>
      </dd>
    </dl>
  );
}

function AmountToPay({
  link: { price },
  language,
  entered,
}: LinkProps & Pick<PayPageProps, 'entered'>) {
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
  const [min, max] = [format(price.amountMin), format(price.amountMax)];
  return (
    <>
      <label for="amount">{texts.amountLabel}</label>
      {/* A number field would refuse the blanks in "1 500". */}
      <input
        id="amount"
        name="amount"
        inputmode="numeric"
        autocomplete="off"
        required
        value={entered.text}
        aria-describedby="bounds"
        aria-invalid={entered.isWrong ? 'true' : undefined}
      />
      {entered.isWrong ? (
        <p id="bounds" class="alert" role="alert">
          {texts.amountWrong(min, max)}
        </p>
      ) : (
        <p id="bounds" class="soft">
          {texts.amountBounds(min, max)}
        </p>
      )}
      <button type="submit" class="strong">
        {texts.pay}
      </button>
    </>
  );
}

/** The page of a link that cannot be paid any more. */
export function ClosedPage({ link, ...shown }: Shown & { readonly link: Link }) {
  const { language } = shown;
  const texts = TEXTS[language];
  const status = link.status === 'pending' ? 'cancelled' : link.status;
  const isPaid = status === 'success';
  const back = isPaid ? link.returnUrl : (link.cancelUrl ?? link.returnUrl);
  return (
    <Page {...shown} title={texts.closed[status]}>
      <Mark isGood={isPaid} />
      <h1>{texts.closed[status]}</h1>
      <p class="said">{texts.said[status](formatAmount(link.amount ?? 0, CURRENCY, language))}</p>
      {link.description !== undefined && (
        <p class="said soft">
          <bdi>{link.description}</bdi>
        </p>
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
    <svg class={isGood ? 'mark good' : 'mark'} viewBox="0 0 24 24" aria-hidden="true">
      <path d={isGood ? 'M5 12.5l4.5 4.5L19 7.5' : 'M6 12h12'} />
    </svg>
  );
}

/** A page with only a message. */
export function MessagePage({
  about,
  ...shown
}: Shown & { readonly about: 'notFound' | 'refused' }) {
  const texts = TEXTS[shown.language];
  return (
    <Page {...shown} title={texts[about]}>
      <Mark isGood={false} />
      <h1>{texts[about]}</h1>
      <p class="said">{texts[`${about}Hint`]}</p>
    </Page>
  );
}
