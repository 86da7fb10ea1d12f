import type { Acknowledged } from '../../faults/verdict.js';
import { isFault } from '../../faults/faults.js';
import { CURRENCY } from '../../payments/payment.js';
import { formatAmount, type Language } from '../language.js';
import { clip, Visible } from '../visible.js';
import { DashboardFrame } from './frame.js';
import { Instant, nameOfFault, StatusBadge } from './parts.js';
import { DASHBOARD_TEXTS } from './texts.js';
import { KINDS, type Happening, type TimelineFilter } from './timeline.js';

export interface TimelinePageProps {
  readonly language: Language;
  readonly filter: TimelineFilter;
  readonly happenings: readonly Happening[];
  /** Decides which statuses end a delivery. */
  readonly acknowledged: Acknowledged;
}

/** Shows API requests, payments and notifications in the order of their times. */
export function TimelinePage({ language, filter, happenings, acknowledged }: TimelinePageProps) {
  const texts = DASHBOARD_TEXTS[language];
  return (
    <DashboardFrame language={language} title={texts.timeline}>
      <a class="back" href="/dashboard">
        ← {texts.back}
      </a>
      <div class="stack">
        <div>
          <h1>{texts.timeline}</h1>
          <p class="lead">{texts.timelineHint}</p>
        </div>
        <section class="card" aria-label={texts.timeline}>
          <form
            method="get"
            action="/dashboard/timeline"
            role="search"
            aria-label={texts.filterTimeline}
            class="search"
          >
            <div>
              <label for="q">{texts.contains}</label>
              <input id="q" name="q" value={filter.text} autocomplete="off" spellcheck={false} />
            </div>
            <div>
              <label for="kind">{texts.happeningLabel}</label>
              <select id="kind" name="kind">
                <option value="">{texts.anyStatus}</option>
                {KINDS.map((kind) => (
                  <option value={kind} selected={kind === filter.kind}>
                    {texts.happening[kind]}
                  </option>
                ))}
              </select>
            </div>
            <button type="submit">{texts.filter}</button>
          </form>
          <div id="timeline" data-live>
            <Timeline {...{ language, happenings, acknowledged }} />
          </div>
        </section>
      </div>
    </DashboardFrame>
  );
}

export function Timeline({
  language,
  happenings,
  acknowledged,
}: Omit<TimelinePageProps, 'filter'>) {
  const texts = DASHBOARD_TEXTS[language];
  if (happenings.length === 0) return <p class="empty">{texts.nothingHappened}</p>;
  return (
    <ol class="rows">
      {happenings.map((happening) => (
        <li data-kind={happening.kind}>
          <Subject happening={happening} language={language} />
          <span class="money">
            <Outcome {...{ happening, language, acknowledged }} />
          </span>
          <div class="more">
            <Instant at={happening.at} language={language} />
            <span>{texts.happening[happening.kind]}</span>
            <Detail happening={happening} language={language} />
          </div>
        </li>
      ))}
    </ol>
  );
}

interface HappeningProps {
  readonly happening: Happening;
  readonly language: Language;
}

function Subject({ happening, language }: HappeningProps) {
  const { kind, reference = '' } = happening;
  if (kind === 'request') {
    return (
      <span>
        <b>{happening.request.method}</b> <Visible text={clip(happening.request.path, 80)} />
      </span>
    );
  }
  if (kind === 'payment') {
    return (
      <a href={`/dashboard/payments/${happening.token}`}>
        <Visible text={clip(reference)} />
      </a>
    );
  }
  const { id, event, fault } = happening.delivery;
  return (
    <a href={`/dashboard/deliveries/${id}`}>
      {isFault(fault) ? nameOfFault(fault, language) : event} ({happening.attempt.number})
    </a>
  );
}

function Outcome({
  happening,
  language,
  acknowledged,
}: HappeningProps & Pick<TimelinePageProps, 'acknowledged'>) {
  if (happening.kind === 'payment')
    return <StatusBadge status={happening.change.status} language={language} />;
  const status =
    happening.kind === 'request' ? happening.request.status : happening.attempt.response?.status;
  const isGood =
    status !== undefined && (happening.kind === 'request' ? status < 400 : acknowledged(status));
  // The fault's own page judges its answers.
  const tone =
    happening.kind === 'delivery' && isFault(happening.delivery.fault)
      ? ''
      : isGood
        ? 'good'
        : 'bad';
  return <span class={`badge ${tone}`}>{status ?? '—'}</span>;
}

function Detail({ happening, language }: HappeningProps) {
  if (happening.kind === 'payment') {
    const { amount } = happening.change;
    return amount === undefined ? <></> : <span>{formatAmount(amount, CURRENCY, language)}</span>;
  }
  if (happening.kind === 'request') {
    const { code, message, reference } = happening.request;
    return (
      <>
        {reference !== undefined && happening.request.method !== 'GET' && (
          <Visible text={clip(reference)} />
        )}
        {code !== undefined && <span>{`${code}: ${message ?? ''}`}</span>}
      </>
    );
  }
  const { error } = happening.attempt;
  return (
    <>
      <Visible text={clip(happening.delivery.reference)} />
      {error !== undefined && <Visible text={clip(error, 80)} />}
    </>
  );
}
