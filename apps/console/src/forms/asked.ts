import { Forbidden, type Operation } from '@floodgate/operators';
import type { FastifyRequest } from 'fastify';
import { mayOpen, type Operations } from '../operations.ts';
import { Refusal, requireScope } from '../principals.ts';
import type { Texts } from '../view/html.ts';
import { operationWords, type OperationWords, type Words } from '../words/index.ts';
import { formOf, type FormDefinition, type FormFacts, type FormPart } from './definitions.ts';
import { isGiven } from './sent.ts';

/** The address of a form. */
export interface FormParams {
  id: string;
  part?: string;
}

/** A form: an operation, or a part of it. */
export interface Asked {
  operation: Operation;
  definition: FormDefinition;
  /** Undefined: the form is that of the whole operation. */
  part: FormPart | undefined;
  /** Its name: "ticketUpdate/capacity". */
  name: string;
}

/** Returns a function that finds a form by its address. It throws if there is none. */
export function askedOf(operations: Operations) {
  const byId = new Map<string, Operation>(Object.values(operations).map((one) => [one.id, one]));
  return ({ id, part: name }: FormParams): Asked => {
    const operation = byId.get(id);
    if (!operation || operation.method === 'GET') throw new Refusal(404, 'No such page');
    const definition = formOf(id);
    if (name === undefined) return { operation, definition, part: undefined, name: id };
    const part = new Map(Object.entries(definition.parts ?? {})).get(name);
    if (!part) throw new Refusal(404, 'No such page');
    return { operation, definition, part, name: `${id}/${name}` };
  };
}

/** Throws if the sender of a request may use an operation for nothing. */
export function assertMayOpen(request: FastifyRequest, operation: Operation) {
  const operator = requireScope(request, operation.scope);
  if (!mayOpen(operator, operation)) throw new Forbidden(operation.scope, true);
}

/** Returns what a form says about what it does. A part says who it is about as the whole form does. */
export function factsOf({ definition, part }: Asked): FormFacts {
  if (!part) return definition;
  return definition.about ? { about: definition.about, ...part } : part;
}

/** Returns the name of the texts of a form. */
export const textsOfForm = ({ definition, part, name }: Asked, given: Texts) =>
  (part ?? definition).texts?.(given) ?? name;

/** Returns the texts of a form. */
export const wordsOfForm = (words: Words, asked: Asked, given: Texts): OperationWords =>
  operationWords(words, asked.operation, textsOfForm(asked, given));

/**
 * Returns what must be known before a form is shown, and is not given: by default what its path names, and its
 * event.
 */
export function missingSubject({ operation, definition }: Asked, given: Texts) {
  const inPath = Array.from(operation.path.matchAll(/\{(\w+)\}/g), ([, name]) => name!);
  const event = operation.input.required?.includes('eventId') ? ['eventId'] : [];
  const subject = definition.subject ?? [...new Set([...event, ...inPath])];
  return subject.filter((name) => !given[name]);
}

/** Returns the fields that a form asks for: its own, and those that are required and not given. */
export function askedFields({ operation, definition, part }: Asked, given: Texts, carried: Texts) {
  const { properties, required = [] } = operation.input;
  const all = Object.keys(properties);
  const wanted = part?.fields ?? definition.fields ?? all;
  const missing = part ? [] : required.filter((name) => !wanted.includes(name));
  const proposed = part?.proposed ?? [];
  return [...missing, ...wanted].filter(
    (name) => (!isGiven(given, name) && !Object.hasOwn(carried, name)) || proposed.includes(name),
  );
}
