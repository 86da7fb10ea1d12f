import { createContext, useContext, type Child } from 'hono/jsx';
import { amountOf, type Link } from '../../contract/payment.js';
import { Document } from '../document.js';
import { formatAmount, useLanguage } from '../language.js';
import { HOSTED_STYLE } from '../style.js';
import { useTexts } from './texts.js';

/** The merchant's name, if the emulator has one. */
export const MerchantContext = createContext<string | undefined>(undefined);

/** The frame of every customer page. */
function Page({ title, children }: { readonly title: string; readonly children?: Child }) {
  const merchant = useContext(MerchantContext);
  const name = merchant === undefined ? title : `${title} – ${merchant}`;
  return (
    <Document title={name} style={HOSTED_STYLE}>
      <main>
        <p class="banner">{useTexts().testPage}</p>
        {merchant !== undefined && <Text class="merchant">{merchant}</Text>}
        {children}
      </main>
    </Document>
  );
}

/** A text of the merchant, whose writing direction affects nothing else. */
function Text({ class: name, children }: { readonly class: string; readonly children: string }) {
  return (
    <p class={name}>
      <bdi>{children}</bdi>
    </p>
  );
}

interface LinkProps {
  readonly link: Link;
}

interface PayPageProps extends LinkProps {
  /** The id of this rendering. A form that is sent twice pays once. */
  readonly page: string;
  /** The text that the customer entered before, and whether the link refuses it. */
  readonly entered: { readonly text: string; readonly isWrong: boolean };
}

// Fills a few lines of a phone. A longer text scrolls, so that the button stays visible.
const HEADING_LENGTH = 160;

/** Lets the customer pay or cancel, or makes the payment fail. */
export function PayPage({ link, page, entered }: PayPageProps) {
  const texts = useTexts();
  const title = link.description ?? texts.title;
  const action = `/link/${link.token}`;
  return (
    <Page title={texts.title}>
      <h1 {...(title.length > HEADING_LENGTH ? { class: 'long', tabindex: 0 } : {})}>
        <bdi>{title}</bdi>
      </h1>
      {link.status === 'failed' && (
        <p class="alert" role="alert">
          {texts.tryAgain}
        </p>
      )}
      <form method="post" action={`${action}/pay`}>
        <input type="hidden" name="page" value={page} />
        <AmountToPay link={link} entered={entered} />
      </form>
      <form method="post" action={`${action}/cancel`}>
        <button type="submit">{texts.cancel}</button>
      </form>
      <form method="post" action={`${action}/fail`}>
        <button type="submit" class="quiet">
          {texts.fail}
        </button>
      </form>
      <Reference link={link} />
    </Page>
  );
}

function Reference({ link }: LinkProps) {
  return (
    <dl class="facts">
      <dt>{useTexts().reference}</dt>
      <dd>
        <bdi>{link.reference}</bdi>
      </dd>
    </dl>
  );
}

function AmountToPay({ link, entered }: LinkProps & Pick<PayPageProps, 'entered'>) {
  const texts = useTexts();
  const language = useLanguage();
  const format = (amount: number): string => formatAmount(amount, language);
  if ('amount' in link) {
    return (
      <>
        <p class="amount">{format(link.amount)}</p>
        <button type="submit" class="strong">
          {texts.payAmount(format(link.amount))}
        </button>
      </>
    );
  }
  const { isWrong } = entered;
  const [min, max] = [format(link.amount_min), format(link.amount_max)];
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
        aria-invalid={isWrong ? 'true' : undefined}
      />
      <p id="bounds" {...(isWrong ? { class: 'alert', role: 'alert' } : { class: 'soft' })}>
        {(isWrong ? texts.amountWrong : texts.amountBounds)(min, max)}
      </p>
      <button type="submit" class="strong">
        {texts.pay}
      </button>
    </>
  );
}

/** The page of a link that cannot be paid any more. */
export function ClosedPage({ link }: LinkProps) {
  const language = useLanguage();
  const texts = useTexts();
  const status = link.status === 'pending' ? 'cancelled' : link.status;
  const isPaid = status === 'success';
  const back = isPaid ? link.return_url : (link.cancel_url ?? link.return_url);
  return (
    <Page title={texts.closed[status]}>
      <h1>{texts.closed[status]}</h1>
      <p>{texts.said[status](formatAmount(amountOf(link) ?? 0, language))}</p>
      {link.description !== undefined && <Text class="soft">{link.description}</Text>}
      <Reference link={link} />
      {back !== undefined && (
        <a class="button strong" href={back}>
          {texts.back}
        </a>
      )}
    </Page>
  );
}

/** A page with only a message. */
export function MessagePage({ about }: { readonly about: 'notFound' | 'refused' }) {
  const texts = useTexts();
  return (
    <Page title={texts[about]}>
      <h1>{texts[about]}</h1>
      <p>{texts[`${about}Hint`]}</p>
    </Page>
  );
}
