import { fieldRule, PERSON_EXAMPLES, RegistrationRequest } from '@floodgate/contract';
import { table } from './table.ts';

const HEADINGS = {
  fullName: 'Names',
  emailAddress: 'E-mail addresses',
  phoneNumber: 'Phone numbers',
  extraData1: 'Other texts',
};
type Field = keyof typeof HEADINGS;

/** Longer examples are cut. */
const SHOWN = 32;
const HIDDEN = /[\p{C}\p{Z}\p{M}\p{Default_Ignorable_Code_Point}\u2800]/gu;

/** Describes what becomes of texts about people, by example. */
export function describePeople(): string {
  return (Object.keys(HEADINGS) as Field[]).map(sectionOf).join('\n');
}

function sectionOf(field: Field): string {
  const rows = PERSON_EXAMPLES.filter((example) => example.field === field).map(({ sent, stored, why }) => [
    shown(sent),
    stored === undefined ? 'refused' : stored === sent ? 'as it is' : shown(stored),
    why,
  ]);
  return [
    `## ${HEADINGS[field]}\n`,
    `A text that breaks the rule is refused with code 11 and this sentence:\n`,
    `> ${fieldRule(RegistrationRequest, `/${field}`)}\n`,
    table(['You send', 'Stored', 'Because'], rows),
  ].join('\n');
}

/** Returns a text as code, with `\u{…}` for what cannot be seen. */
function shown(text: string): string {
  if (text === '') return 'nothing';
  const characters = Array.from(text);
  const cut = characters.length > SHOWN ? `${characters.slice(0, 8).join('')}…` : text;
  const visible = cut.replaceAll(HIDDEN, (character) =>
    character === ' ' ? ' ' : `\\u{${character.codePointAt(0)!.toString(16).padStart(4, '0')}}`,
  );
  // Two back quotes keep spaces at the ends.
  return `\`${visible.startsWith(' ') || visible.endsWith(' ') ? ` ${visible} ` : visible}\`${cut === text ? '' : ` (${characters.length} characters)`}`;
}
