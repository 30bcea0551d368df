import { fieldRule, PERSON_EXAMPLES, RegistrationRequest } from '@floodgate/contract';
import { table } from './table.ts';

const HEADINGS = {
  fullName: 'Names',
  emailAddress: 'E-mail addresses',
  phoneNumber: 'Phone numbers',
  extraData1: 'Other texts',
};
type Field = keyof typeof HEADINGS;
type Example = (typeof PERSON_EXAMPLES)[number];

/** Longer examples are cut. */
const SHOWN = 32;
const HIDDEN = /[\p{C}\p{Z}\p{M}\p{Default_Ignorable_Code_Point}\u2800]/gu;

/** Describes what becomes of texts about people: for each field its rule, and one example for each reason. */
export function describePeople(): string {
  return (Object.keys(HEADINGS) as Field[]).map(sectionOf).join('\n');
}

function sectionOf(field: Field): string {
  const examples = onePerReason(PERSON_EXAMPLES.filter((example) => example.field === field));
  const kept = examples.filter(({ sent, stored }) => sent === stored).map(({ sent }) => shown(sent));
  const rows = examples
    .filter(({ sent, stored }) => sent !== stored)
    .map(({ sent, stored, why }) => [shown(sent), stored === undefined ? `refused: ${why}` : shown(stored)]);
  return [
    `## ${HEADINGS[field]}\n`,
    `> ${fieldRule(RegistrationRequest, `/${field}`)}\n`,
    ...(kept.length > 0 ? [`Stored as sent: ${kept.join(', ')}.\n`] : []),
    table(['sent', 'stored'], rows),
  ].join('\n');
}

/** The first example of each reason. */
const onePerReason = (examples: readonly Example[]) =>
  [...Map.groupBy(examples, ({ stored, why }) => `${stored === undefined} ${why}`).values()].map(
    ([first]) => first!,
  );

/** Returns a text as code, with `\u{…}` for what cannot be seen. */
function shown(text: string): string {
  if (text === '') return 'nothing';
  const characters = Array.from(text);
  const cut = characters.length > SHOWN ? `${characters.slice(0, 8).join('')}…` : text;
  const visible = cut.replaceAll(HIDDEN, (character) =>
    character === ' ' ? ' ' : `\\u{${character.codePointAt(0)!.toString(16).padStart(4, '0')}}`,
  );
  // Two back quotes keep spaces at the ends.
  const padded = visible.startsWith(' ') || visible.endsWith(' ') ? ` ${visible} ` : visible;
  const length = cut === text ? '' : ` (${characters.length} characters)`;
  return `\`${padded}\`${length}`;
}
