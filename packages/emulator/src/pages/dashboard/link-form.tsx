import { DASHBOARD_TEXTS, type LinkField } from './texts.js';
import type { Language } from '../language.js';

/** The entered values by contract field. `kind` selects the amount fields that count. */
export type LinkFormValues = Readonly<Partial<Record<LinkField | 'kind', string>>>;

export interface LinkFormProps {
  readonly language: Language;
  readonly values: LinkFormValues;
  /** The refused field. */
  readonly wrongField?: LinkField | undefined;
}

/** Creates a link as the API would. */
export function LinkForm({ language, values, wrongField }: LinkFormProps) {
  const texts = DASHBOARD_TEXTS[language];
  const isFree = values.kind === 'free';
  const field = { language, values, wrongField };
  return (
    <form method="post" action="/dashboard" class="fields">
      {wrongField !== undefined && (
        <p class="alert wide" role="alert">
          {texts.wrongForm}
        </p>
      )}
      <fieldset class="wide">
        <legend>{texts.kind}</legend>
        <label class="choice">
          <input type="radio" name="kind" value="fixed" checked={!isFree} />
          {texts.fixed}
        </label>
        <label class="choice">
          <input type="radio" name="kind" value="free" checked={isFree} />
          {texts.free}
        </label>
      </fieldset>
      <Field {...field} name="amount" class="fixed" inputmode="numeric" />
      <Field {...field} name="amount_min" class="free" inputmode="numeric" />
      <Field {...field} name="amount_max" class="free" inputmode="numeric" />
      <Field {...field} name="reference" class="wide" />
      <Field {...field} name="description" class="wide" />
      <Field {...field} name="return_url" isOptional inputmode="url" />
      <Field {...field} name="cancel_url" isOptional inputmode="url" />
      <div class="wide">
        <label class="choice">
          <input
            type="checkbox"
            name="single_use"
            value="true"
            checked={values.single_use === 'true'}
            aria-describedby="single_use-hint"
          />
          {texts.fields.single_use}
        </label>
        <p class="hint" id="single_use-hint">
          {texts.hints.single_use}
        </p>
      </div>
      <div class="wide">
        <button type="submit" class="strong">
          {texts.createButton}
        </button>
      </div>
    </form>
  );
}

interface FieldProps extends LinkFormProps {
  readonly name: LinkField;
  readonly class?: string;
  readonly inputmode?: 'numeric' | 'url';
  readonly isOptional?: boolean;
}

function Field({
  language,
  values,
  wrongField,
  name,
  class: className,
  inputmode,
  isOptional,
}: FieldProps) {
  const texts = DASHBOARD_TEXTS[language];
  const isWrong = wrongField === name;
  return (
    <div class={className}>
      <label for={name}>
        {texts.fields[name]}
        {isOptional === true && <span class="soft"> ({texts.optional})</span>}
      </label>
      <input
        id={name}
        name={name}
        value={values[name] ?? ''}
        autocomplete="off"
        inputmode={inputmode}
        aria-invalid={isWrong ? 'true' : undefined}
        aria-describedby={`${name}-hint`}
        autofocus={isWrong ? true : undefined}
      />
      <p class={isWrong ? 'hint wrong' : 'hint'} id={`${name}-hint`}>
        {texts.hints[name]}
      </p>
    </div>
  );
}
