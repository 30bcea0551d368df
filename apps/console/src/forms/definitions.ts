import type { Static, TObject } from '@sinclair/typebox';
import type { PageRequest } from '../add-page.ts';
import type { Operations } from '../operations.ts';
import type { Texts } from '../view/html.ts';
import { accessForms } from './access-forms.ts';
import { doorForms } from './door-forms.ts';
import { eventForms } from './event-forms.ts';
import { jobForms } from './job-forms.ts';
import { mailForms } from './mail-forms.ts';
import { partnerForms } from './partner-forms.ts';
import { passForms } from './pass-forms.ts';
import { registrationForms } from './registration-forms.ts';
import { ticketForms } from './ticket-forms.ts';
import { webhookForms } from './webhook-forms.ts';

type InputOf<Id extends keyof Operations> = Operations[Id] extends { input: infer Input extends TObject }
  ? Static<Input>
  : never;

/** A box of a form about several fields, which the operation does not know. */
export interface FormBox {
  /** Its text is that of the field with this name. */
  name: string;
  /** It is shown if all of these fields have a value. */
  of: readonly string[];
  /** Returns what the form means if the box is checked. */
  apply: (given: Texts) => Texts;
}

/** A form's words about its effect. */
export interface FormFacts {
  /** Resolves to sentences above the fields: whom and what it is about, how many, and what follows. */
  about?: (page: PageRequest, given: Texts) => Promise<readonly (string | false | undefined)[]>;
  /** Resolves to what is shown above the fields in place of sentences: a preview with its first rows. */
  preview?: (page: PageRequest, given: Texts) => Promise<string>;
  /** It cannot be undone, or concerns many people. */
  isDangerous?: boolean | ((given: Texts) => boolean);
  /** Resolves to how many it concerns. A large number must be typed before it happens. */
  concerns?: (page: PageRequest, given: Texts) => Promise<number>;
  /** Resolves to whether there is something to do. Otherwise the form has no button that does it. */
  hasWork?: (page: PageRequest, given: Texts) => Promise<boolean>;
  /** Returns the name of its texts, if they depend on what is given. */
  texts?: (given: Texts) => string;
}

/** A part of an operation that has a form of its own. */
export interface FormPart<Field extends string = string> extends FormFacts {
  /** The fields that it asks for. */
  fields: readonly Field[];
  /** Those of them that it asks for although a link gives them: the link only fills them. */
  proposed?: readonly Field[];
  /** Checked at first. */
  box?: FormBox;
}

/** The form of an operation. Without one, the form asks for every field of the operation. */
export interface FormDefinition<Field extends string = string, Result = unknown> extends FormFacts {
  /** Fields that must be known before the form is shown. Default: those in the path of the operation. */
  subject?: readonly Field[];
  /** The fields that it asks for, besides those that are required and not given. Default: all. */
  fields?: readonly Field[];
  /**
   * Parts that have a form each: "capacity" of a ticket. The address of a part is that of the form with its
   * name at the end.
   */
  parts?: Record<string, FormPart<Field>>;
  /** Resolves to the values that the fields have now. A value that nobody changes is not sent. */
  current?: (page: PageRequest, given: Texts) => Promise<Partial<Record<Field, unknown>> | undefined>;
  /** Resolves to values that the form carries without asking: those of a preview. They are read when it is shown. */
  carries?: (page: PageRequest, given: Texts) => Promise<Texts>;
  /** The form that shows what its fields choose, and does something with it. The operation itself only reads. */
  previews?: string;
  /** The form that chooses what this one acts on. It follows if there is nothing to do. */
  chosenBy?: string;
  /** Returns the page that follows, if it is another one than that from which the form was opened. */
  next?(this: void, result: Result, given: Texts): string;
}

type ResultOf<Id extends keyof Operations> = Awaited<ReturnType<Operations[Id]['run']>>;

export type FormDefinitions = {
  [Id in keyof Operations]?: FormDefinition<keyof InputOf<Id> & string, ResultOf<Id>>;
};

/** The forms of operations, by the name of the operation. */
export const FORMS: FormDefinitions = {
  ...eventForms,
  ...ticketForms,
  ...registrationForms,
  ...partnerForms,
  ...webhookForms,
  ...mailForms,
  ...passForms,
  ...doorForms,
  ...jobForms,
  ...accessForms,
};

/** Returns the form of an operation, or an empty one. */
export const formOf = (id: string): FormDefinition =>
  new Map<string, FormDefinition>(Object.entries(FORMS)).get(id) ?? {};
