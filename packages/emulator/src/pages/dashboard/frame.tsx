import { amountOf, amountBoundsOf, type Link } from '../../contract/payment.js';
import { resultOf, type EmulatorDelivery } from '../../deliveries/delivery.js';
import { Document, type DocumentProps } from '../document.js';
import { formatAmount } from '../language.js';
import { DASHBOARD_STYLE } from '../style.js';

/** The frame of every dashboard page. The dashboard is meant for developers and is in English. */
export function DashboardFrame({ title, children }: Omit<DocumentProps, 'style'>) {
  return (
    <Document title={title} style={DASHBOARD_STYLE}>
      <header class="bar">
        <a class="brand" href="/dashboard">
          Paylink
        </a>
        <p class="banner">Test environment: no real money</p>
      </header>
      <main>{children}</main>
    </Document>
  );
}

const MESSAGES = {
  notFound: ['Not found', 'This page does not exist, or the emulator discarded its content.'],
  refused: ['Request rejected', 'Open the dashboard again and retry from there.'],
} as const;

/** A dashboard page with only a message. */
export function DashboardMessage({ about }: { readonly about: keyof typeof MESSAGES }) {
  const [title, hint] = MESSAGES[about];
  return (
    <DashboardFrame title={title}>
      <h1>{title}</h1>
      <p class="soft">{hint}</p>
    </DashboardFrame>
  );
}

export function Instant({ at }: { readonly at: Date }) {
  return <time datetime={at.toISOString()}>{at.toISOString().slice(0, 19).replace('T', ' ')}</time>;
}

/** Returns a link's amount, or the bounds of the customer's choice. */
export function priceOf(link: Link): string {
  const format = (value: number): string => formatAmount(value, 'en');
  const { min, max } = amountBoundsOf(link);
  const amount = amountOf(link);
  return amount === undefined ? `${format(min)} to ${format(max)}` : format(amount);
}

/** Names the state of a delivery, and the last result if the receiver has not acknowledged. */
export function stateOf({ state, attempts }: EmulatorDelivery): string {
  const last = attempts.at(-1);
  if (state !== 'pending' || last === undefined)
    return { pending: 'on its way', delivered: 'delivered', unsent: 'not sent' }[state];
  return `not acknowledged: ${resultOf(last)}`;
}
