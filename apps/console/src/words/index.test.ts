import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { ROLE_NAMES, SCOPES, type Operation } from '@floodgate/operators';
import { loadConfig } from '@floodgate/service';
import { expect, test } from 'vitest';
import { ConsoleConfig } from '../config.ts';
import { wordsOfSchema } from '../forms/choices.ts';
import { FORMS } from '../forms/definitions.ts';
import { operationsOf } from '../operations.ts';
import { fieldWords, ruleWords, valueWords, WORDS } from './index.ts';

const { en, de } = WORDS;

const root = path.resolve(import.meta.dirname, '../../../..');
const config = loadConfig(ConsoleConfig, { DATABASE_URL: 'postgres://localhost/none' });
/** Those that have a form. */
const changing = Object.values<Operation>(operationsOf(config)).filter(({ method }) => method !== 'GET');

/** Words that are the same in both languages. */
const SAME = new Set('Ticket,Tickets,Partner,Webhook,Shard,Name,Format,E-Mail,CSV'.split(','));

/** Returns the texts that are missing or English in German. */
const untranslated = (pairs: [name: string, english: string | undefined, german: string | undefined][]) =>
  pairs.filter(([, english, german]) => !english || !german || (english === german && !SAME.has(english)));

test('every form and every part of one has a link, a title and a button in both languages', () => {
  const parts = Object.entries(FORMS).flatMap(([id, form]) =>
    'parts' in form ? Object.keys(form.parts).map((part) => `${id}/${part}`) : [],
  );
  const names = [...changing.map(({ id }) => id), ...parts];
  const texts = names.flatMap((name) =>
    (['link', 'title', 'button'] as const).map((text): [string, string | undefined, string | undefined] => [
      `${name} ${text}`,
      en.operations[name]?.[text],
      de.operations[name]?.[text],
    ]),
  );
  expect(untranslated(texts)).toEqual([]);
  expect(Object.keys(de.operations)).toEqual(Object.keys(en.operations));
});

test('every field of every form has a label and an example in both languages', () => {
  const found: ReturnType<typeof untranslated> = [];
  for (const { id, input } of changing)
    for (const name of Object.keys(input.properties)) {
      const [own, any] = [`${id}.${name}`, name];
      if (!en.fields[own] && !en.fields[any]) found.push([own, undefined, undefined]);
      const [english, german] = [en, de].map((words) => fieldWords(words, name, { operationId: id }));
      for (const text of ['label', 'hint'] as const)
        found.push(...untranslated([[`${own} ${text}`, english![text], german![text]]]));
    }
  expect(found).toEqual([]);
  expect(Object.keys(de.fields)).toEqual(Object.keys(en.fields));
});

test('every choice has a word in both languages', () => {
  const chosen = changing.flatMap(({ input }) =>
    Object.entries(input.properties).flatMap(([name, schema]) =>
      (wordsOfSchema(schema) ?? []).map((word) => [name, word] as const),
    ),
  );
  const all = [...chosen, ...[...ROLE_NAMES, ...SCOPES].map((word) => ['', word] as const)];
  const missing = all.filter(([name, word]) => [en, de].some((words) => !isKnown(words.values, word, name)));
  expect(missing).toEqual([]);
  const texts = all.map(([name, word]): [string, string, string] => [
    word,
    valueWords(en, word, name),
    valueWords(de, word, name),
  ]);
  expect(untranslated(texts)).toEqual([]);
  expect(Object.keys(de.values)).toEqual(Object.keys(en.values));
});

const isKnown = (values: Record<string, string>, word: string, name: string) =>
  Boolean(values[`${name}.${word}`] ?? values[word]);

test('every rule of a field has a German text', () => {
  const rules = changing.flatMap(({ input }) =>
    Object.values(input.properties).flatMap(({ description }) => description ?? []),
  );
  expect([...new Set(rules)].filter((rule) => ruleWords(de, rule) === rule)).toEqual([]);
});

/** The packages of operations. */
const PACKAGES = 'door,events,jobs,mail,operators,partners,passes,registrations,tickets,webhooks';
/** These speak to partners, devices and command lines. */
const OTHERS =
  /\.test\.ts$|\/(api|cli|commands|enrolment|scans|preview|failures|guest-columns|operations)\.ts$/;

const RULES =
  /const (?:\w*_RULE|ADDRESS_TAKEN|LIST_OR_ALLOCATIONS|NONE_FOUND|NOT_STORED|SEAT_REPLACED) =\s*('[^']+');/g;

/** Returns the texts in quotes in source. */
const textsIn = (source: string) =>
  Array.from(source.matchAll(/'((?:[^'\\\n]|\\.)+)'|"((?:[^"\\\n]|\\.)+)"/g), ([, one, other]) =>
    (one ?? other)!.replaceAll(/\\(.)/g, '$1'),
  );

/** Returns the reasons with fixed texts for which the operations of a file refuse what they are asked. */
function reasonsIn(source: string) {
  const thrown = Array.from(
    source.matchAll(/new (?:Failure|NotFound)\(\s*(['"][^`]*?['"]),?\s*\)/g),
    ([, text]) => text!,
  );
  const refusals = Array.from(source.matchAll(/(?:refusals:|const TAKEN =) \{([^}]*)\}/g), ([, body]) =>
    Array.from(body!.matchAll(/:\s*('[^']+'|"[^"]+")/g), ([, text]) => text!),
  ).flat();
  const checks = Array.from(source.matchAll(/return \{ \w+: ('[^']+ [^']+') \}/g), ([, text]) => text!);
  const rules = Array.from(source.matchAll(RULES), ([, text]) => text!);
  return [...thrown, ...refusals, ...checks, ...rules].flatMap(textsIn);
}

test('every reason with a fixed text has a German text', () => {
  const files = globSync(`packages/{${PACKAGES}}/src/**/*.ts`, { cwd: root }).filter(
    (file) => !OTHERS.test(file),
  );
  const reasons = files.flatMap((file) => reasonsIn(readFileSync(path.join(root, file), 'utf8')));
  expect(reasons).toEqual(
    expect.arrayContaining([
      'no such ticket',
      'a partner of this name already exists',
      'the sale must start before it ends',
      'nothing to change; give at least one setting',
      'a ticket has either allocations or a waiting list',
      "this partner registers the operator's own guests, so it has no keys",
    ]),
  );
  expect([...new Set(reasons)].filter((reason) => ruleWords(de, reason) === reason)).toEqual([]);
});

test.for([
  ['a whole number from 1 to 100', 'eine ganze Zahl von 1 bis 100'],
  ['80 seats would be reserved, but only 12 are left', '80 Plätze wären reserviert, aber nur 12 sind frei.'],
  ['a rule of a later release', 'a rule of a later release'],
  ['no such event: 12345', 'Die Veranstaltung 12345 gibt es nicht.'],
])('a rule with numbers is German, too: %s', ([rule, german]) => {
  expect(ruleWords(de, rule!)).toBe(german);
  expect(ruleWords(en, rule!)).toBe(rule);
});

test.for([
  [
    'a whole number from 0 to 2147483647, such as 5000',
    'a whole number from 0 to 2,147,483,647, such as 5,000',
    'eine ganze Zahl von 0 bis 2.147.483.647, zum Beispiel 5.000',
  ],
  [
    'the capacity cannot be less than 1204, the number of seats that are taken already',
    'the capacity cannot be less than 1,204, the number of seats that are taken already',
    'Die Kapazität kann nicht kleiner sein als 1.204, die Zahl der vergebenen Plätze.',
  ],
  [
    'an amount from 0 to 99999999.99 with at most 2 decimals, such as 12.50',
    'an amount from 0 to 99,999,999.99 with at most 2 decimals, such as 12.50',
    'ein Betrag von 0 bis 99.999.999,99 mit höchstens 2 Nachkommastellen, zum Beispiel 12,50',
  ],
  [
    'a time such as 2026-11-21T09:00:00Z',
    'a time such as 2026-11-21T09:00:00Z',
    'ein Datum mit Uhrzeit, zum Beispiel 21.11.2026, 09:00',
  ],
])('large numbers of a rule are as the language writes them: %s', ([rule, english, german]) => {
  expect(ruleWords(en, rule!)).toBe(english);
  expect(ruleWords(de, rule!)).toBe(german);
});
