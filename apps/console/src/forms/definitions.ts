import type { Static, TObject } from '@sinclair/typebox';
import type { Operations } from '../operations.ts';
import type { PageRequest } from '../add-page.ts';
import type { Texts } from '../view/html.ts';
import { doorForms } from './door-forms.ts';
import { eventForms } from './event-forms.ts';
import { ticketForms } from './ticket-forms.ts';

export type InputOf<Id extends keyof Operations> = Operations[Id] extends {
  input: infer Input extends TObject;
}
  ? Static<Input>
  : never;

/** The form of an operation. Without one, the form asks for every field of the operation. */
export interface FormDefinition<Input = Record<string, unknown>> {
  /**
   * Parts of the operation that have a form each, with the fields that it asks for: "capacity" of a ticket.
   * The address of a part is that of the form with its name at the end.
   */
  parts?: Record<string, readonly (keyof Input & string)[]>;
  /** Resolves to the values that the fields have now. A value that nobody changes is not sent. */
  current?: (page: PageRequest, given: Texts) => Promise<Partial<Record<keyof Input & string, unknown>>>;
  /** Resolves to HTML above the fields: whom and what it is about, how many, and what follows. */
  about?: (page: PageRequest, given: Texts) => Promise<string>;
  /** It cannot be undone, or concerns many people. */
  isDangerous?: boolean;
  /** Resolves to how many it concerns. A large number must be typed before it happens. */
  concerns?: (page: PageRequest, given: Texts) => Promise<number>;
  /** Returns the page that follows, if it is another one than that from which the form was opened. */
  next?: (result: never, given: Texts) => string;
}

export type FormDefinitions = { [Id in keyof Operations]?: FormDefinition<InputOf<Id>> };

/** The forms of operations, by the name of the operation. */
export const FORMS: FormDefinitions = { ...ticketForms, ...eventForms, ...doorForms };
