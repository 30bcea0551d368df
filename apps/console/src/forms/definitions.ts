import type { Static, TObject } from '@sinclair/typebox';
import type { Operations } from '../operations.ts';
import type { PageRequest } from '../add-page.ts';
import type { Texts } from '../view/html.ts';
import { eventForms } from './event-forms.ts';
import { jobForms } from './job-forms.ts';
import { mailForms } from './mail-forms.ts';
import { peopleForms } from './people-forms.ts';
import { ticketForms } from './ticket-forms.ts';

export type InputOf<Id extends keyof Operations> =
  Operations[Id] extends { input: infer Input extends TObject } ? Static<Input> : never;

/** The form of an operation. Without one, the form asks for every field of the operation. */
export interface FormDefinition<Input = Record<string, unknown>> {
  /**
   * Parts of the operation that have a form each, with the fields that it asks for: "capacity" of a ticket.
   * The address of a part is that of the form with its name at the end.
   */
  parts?: Record<string, readonly (keyof Input & string)[]>;
  /** Resolves to the values that the fields have now. A value that nobody changes is not sent. */
  current?: (page: PageRequest, given: Texts) => Promise<Partial<Record<keyof Input & string, unknown>>>;
  /**
   * Resolves to fields that the form sends along without asking for them: what it has counted for its text.
   * They replace those of a link.
   */
  fixed?: (page: PageRequest, given: Texts) => Promise<Texts>;
  /** Resolves to HTML above the fields: whom and what it is about, how many, and what follows. */
  about?: (page: PageRequest, given: Texts) => Promise<string>;
  /** It cannot be undone, or concerns many people. */
  isDangerous?: boolean;
  /** Resolves to how many it concerns. A large number must be typed before it happens. */
  concerns?: (page: PageRequest, given: Texts) => Promise<number>;
  /** Returns the page that follows, if it is another one than that from which the form was opened. */
  /** The page that follows shows what was done, so it need not be said above it. */
  isShownByNext?: boolean;
  next?: (result: never, given: Texts) => string;
}

export type FormDefinitions = { [Id in keyof Operations]?: FormDefinition<InputOf<Id>> };

/** The forms of operations, by the name of the operation. */
export const FORMS: FormDefinitions = {
  ...ticketForms,
  ...eventForms,
  ...peopleForms,
  ...mailForms,
  ...jobForms,
};
