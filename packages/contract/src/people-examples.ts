import type { Attendee } from './holds.ts';

/** A text that a partner sends, and what becomes of it. */
interface PersonExample {
  field: 'fullName' | 'emailAddress' | 'phoneNumber' | 'extraData1';
  sent: string;
  /** The stored text. Undefined: the call is refused with the rule of the field. */
  stored?: string;
  /** The reason. The guide shows the first example of each. */
  why: string;
}

/**
 * The rules of people.ts by example. The tests of the service and of the client walk over them, and the guide
 * shows them.
 */
export const PERSON_EXAMPLES: readonly PersonExample[] = [
  { field: 'fullName', sent: '  Jane Doe\t', stored: 'Jane Doe', why: 'white space around it' },
  {
    field: 'fullName',
    sent: '\u00A0Jane Doe\u3000',
    stored: 'Jane Doe',
    why: 'white space around it',
  },
  { field: 'fullName', sent: '\u202AJane Doe\u202C', stored: 'Jane Doe', why: 'invisible marks around it' },
  { field: 'fullName', sent: '\u200Fשרה לוי\u200F', stored: 'שרה לוי', why: 'invisible marks around it' },
  { field: 'fullName', sent: '\u2068محمد علي\u2069', stored: 'محمد علي', why: 'invisible marks around it' },
  { field: 'fullName', sent: '\uFEFFJane\u200B', stored: 'Jane', why: 'invisible marks around it' },
  { field: 'fullName', sent: 'Jane\uFE0F', stored: 'Jane', why: 'invisible marks around it' },
  { field: 'fullName', sent: 'Jane  Doe', stored: 'Jane  Doe', why: 'spaces inside stay' },
  {
    field: 'fullName',
    sent: 'می\u200Cخواهم',
    stored: 'می\u200Cخواهم',
    why: 'a joiner inside belongs to the spelling',
  },
  {
    field: 'fullName',
    sent: 'മോഹന്\u200D',
    stored: 'മോഹന്\u200D',
    why: 'a joiner that belongs to the last letter',
  },
  { field: 'fullName', sent: 'Jane ❤\uFE0F', stored: 'Jane ❤\uFE0F', why: 'belongs to the last sign' },
  {
    field: 'fullName',
    sent: "Renée O'Neil-Ðukić III., 李小龍",
    stored: "Renée O'Neil-Ðukić III., 李小龍",
    why: 'all scripts',
  },
  { field: 'fullName', sent: 'X', stored: 'X', why: 'one character is a name' },
  { field: 'fullName', sent: '李', stored: '李', why: 'one character is a name' },
  { field: 'fullName', sent: '𞤀𞤣𞤢𞤥', stored: '𞤀𞤣𞤢𞤥', why: 'all scripts' },
  { field: 'fullName', sent: 'Jane \u202EeoD', why: 'a text direction character inside it' },
  { field: 'fullName', sent: 'Jane\u2066 Doe', why: 'a text direction character inside it' },
  { field: 'fullName', sent: 'Jane\tDoe', why: 'a control character inside it' },
  { field: 'fullName', sent: 'Jane\u0085Doe', why: 'a control character inside it' },
  { field: 'fullName', sent: '', why: 'nothing' },
  { field: 'fullName', sent: ' \u00A0\u3000', why: 'only spaces' },
  { field: 'fullName', sent: '\u200B\u200B', why: 'no visible character' },
  { field: 'fullName', sent: '\u200D', why: 'no visible character' },
  { field: 'fullName', sent: '\u202A\u202C', why: 'no visible character' },
  { field: 'fullName', sent: '\u00AD', why: 'no visible character' },
  { field: 'fullName', sent: '\u2800', why: 'no visible character' },
  { field: 'fullName', sent: '\u3164', why: 'no visible character' },
  { field: 'fullName', sent: '\u115F\u1160\uFFA0', why: 'no visible character' },
  { field: 'fullName', sent: '\u17B4', why: 'no visible character' },
  { field: 'fullName', sent: '\uFE0F\u180B', why: 'no visible character' },
  { field: 'fullName', sent: '\u{E0041}\u{E0042}', why: 'no visible character' },
  { field: 'fullName', sent: '\u{1D173}', why: 'no visible character' },
  { field: 'fullName', sent: '\u0301\u0308', why: 'no visible character' },
  { field: 'fullName', sent: '\u05B8', why: 'no visible character' },
  { field: 'fullName', sent: 'x'.repeat(256), why: 'too long' },
  { field: 'emailAddress', sent: 'Jane.Doe@Example.com', stored: 'Jane.Doe@Example.com', why: 'case stays' },
  {
    field: 'emailAddress',
    sent: ' jane@example.com\u00A0',
    stored: 'jane@example.com',
    why: 'white space around it',
  },
  {
    field: 'emailAddress',
    sent: '\u202Ajane@example.com\u202C',
    stored: 'jane@example.com',
    why: 'invisible marks around it',
  },
  {
    field: 'emailAddress',
    sent: '\u200Bjane@example.com\r\n',
    stored: 'jane@example.com',
    why: 'invisible marks around it',
  },
  {
    field: 'emailAddress',
    sent: 'joerg@münchen.de',
    stored: 'joerg@xn--mnchen-3ya.de',
    why: 'the domain in ASCII',
  },
  {
    field: 'emailAddress',
    sent: 'Joerg@MÜNCHEN.DE',
    stored: 'Joerg@xn--mnchen-3ya.de',
    why: 'the domain in ASCII',
  },
  {
    field: 'emailAddress',
    sent: 'a@mu\u0308nchen.de',
    stored: 'a@xn--mnchen-3ya.de',
    why: 'the domain in ASCII',
  },
  {
    field: 'emailAddress',
    sent: 'a@straße.de',
    stored: 'a@xn--strae-oqa.de',
    why: 'the domain in ASCII',
  },
  { field: 'emailAddress', sent: 'a@例え。jp', stored: 'a@xn--r8jz45g.jp', why: 'the domain in ASCII' },
  {
    field: 'emailAddress',
    sent: 'a@ｅｘａｍｐｌｅ．ｃｏｍ',
    stored: 'a@example.com',
    why: 'the domain in ASCII',
  },
  { field: 'emailAddress', sent: 'a@XN--MNCHEN-3YA.de', stored: 'a@XN--MNCHEN-3YA.de', why: 'ASCII already' },
  { field: 'emailAddress', sent: 'jörg@example.com', why: 'a character before the @ is not ASCII' },
  { field: 'emailAddress', sent: 'ja\u200Bne@example.com', why: 'a character before the @ is not ASCII' },
  { field: 'emailAddress', sent: 'jane＠example.com', why: 'a wide @ is not an @' },
  { field: 'emailAddress', sent: 'jane@münchen', why: 'no dot after the @' },
  { field: 'emailAddress', sent: 'jane@localhost', why: 'no dot after the @' },
  { field: 'emailAddress', sent: 'jane@a\u202Eü.com', why: 'not a domain' },
  { field: 'emailAddress', sent: 'jane@xn--ü.com', why: 'not a domain' },
  { field: 'emailAddress', sent: 'jane@ü..com', why: 'not a domain' },
  { field: 'emailAddress', sent: 'jane@ü.com/x', why: 'not a domain' },
  { field: 'emailAddress', sent: 'jane@１２７.1', why: 'an IP address' },
  { field: 'emailAddress', sent: `jane@${'ü'.repeat(60)}.de`, why: 'too long in ASCII' },
  {
    field: 'emailAddress',
    sent: `${'l'.repeat(65)}@example.com`,
    why: 'more than 64 characters before the @',
  },
  { field: 'emailAddress', sent: 'ja ne@example.com', why: 'a space inside it' },
  { field: 'emailAddress', sent: 'Jane <jane@example.com>', why: 'more than the address' },
  { field: 'phoneNumber', sent: '+44 20 7946 0123', stored: '+44 20 7946 0123', why: 'as it was typed' },
  { field: 'phoneNumber', sent: '0123/456789', stored: '0123/456789', why: 'as it was typed' },
  { field: 'phoneNumber', sent: '030 / 123 45 67', stored: '030 / 123 45 67', why: 'as it was typed' },
  {
    field: 'phoneNumber',
    sent: '+1 555 0100 ext. 5, #7',
    stored: '+1 555 0100 ext. 5, #7',
    why: 'as it was typed',
  },
  {
    field: 'phoneNumber',
    sent: '+49\u00A030\u00A01234',
    stored: '+49\u00A030\u00A01234',
    why: 'no-break spaces',
  },
  { field: 'phoneNumber', sent: '+４９（３０）１２３', stored: '+４９（３０）１２３', why: 'wide digits' },
  { field: 'phoneNumber', sent: '٠١٢٣٤٥٦', stored: '٠١٢٣٤٥٦', why: 'digits of any script' },
  {
    field: 'phoneNumber',
    sent: '\u202A+1 555 0100\u202C',
    stored: '+1 555 0100',
    why: 'invisible marks around it',
  },
  { field: 'phoneNumber', sent: ' +1 555 0100\n', stored: '+1 555 0100', why: 'white space around it' },
  { field: 'phoneNumber', sent: '', stored: '', why: 'may be empty' },
  { field: 'phoneNumber', sent: '110', stored: '110', why: 'as it was typed' },
  { field: 'phoneNumber', sent: '+1\t555', why: 'a control character inside it' },
  { field: 'phoneNumber', sent: '9'.repeat(33), why: 'too long' },
  { field: 'extraData1', sent: ' two seats ', stored: ' two seats ', why: 'spaces stay' },
  { field: 'extraData1', sent: '\u200Fכשר\u200F', stored: 'כשר', why: 'invisible marks around it' },
  { field: 'extraData1', sent: 'a\u202Eb', why: 'a text direction character inside it' },
] satisfies (PersonExample & { field: keyof Attendee })[];
