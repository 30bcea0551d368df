import { InvalidInput } from '@floodgate/service/failure';
import { badList } from './decode-guest-list.ts';
import { GUEST_TEXTS, type GuestText } from './guest.ts';

/** The content of a column. */
export type GuestField = GuestText | 'ticket';

const FIELDS: readonly GuestField[] = [...GUEST_TEXTS, 'ticket'];

/** The columns of a guest list. */
export interface GuestColumns {
  /** By field: its columns, whose cells are joined with spaces. */
  indexes: Partial<Record<GuestField, number[]>>;
  /** The names of columns that are not used. */
  ignored: string[];
}

type Part = GuestField | 'firstName' | 'lastName';

/** Names of columns, in the form of `plain`. */
const NAMES: Record<Part, string[]> = {
  fullName: ['fullname', 'name', 'guest', 'gast'],
  firstName: ['firstname', 'givenname', 'vorname'],
  lastName: ['lastname', 'familyname', 'surname', 'nachname', 'familienname'],
  emailAddress: ['emailaddress', 'email', 'mail', 'emailadresse'],
  phoneNumber: ['phonenumber', 'phone', 'telephone', 'mobile', 'telefon', 'handy'],
  gender: ['gender', 'geschlecht'],
  tableOrSeat: ['tableorseat', 'table', 'seat', 'tisch', 'platz'],
  extraData1: ['extradata1'],
  extraData2: ['extradata2'],
  partnerReference: ['partnerreference', 'reference', 'ref', 'referenz'],
  ticket: ['ticket', 'ticketid', 'tickettitle', 'organizedeventticketid'],
};
const PARTS = new Map(
  Object.entries(NAMES).flatMap(([part, names]) => names.map((name) => [name, part as Part])),
);

/** Case, spaces and punctuation of a column's name do not count. */
const plain = (name: string) =>
  name
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]/gu, '');

/**
 * Returns which columns of the header hold which fields: first those of `map` ("Vorname+Nachname=fullName"), then
 * those with a known name. Throws InvalidInput if a mapping is wrong, two columns have the same field, or name or
 * address have none. The error quotes no cell: the first row could be a guest.
 */
export function findColumns(header: readonly string[], map: readonly string[]): GuestColumns {
  const names = header.map(plain);
  const mapped = new Map<Part, number[]>(map.map((text) => readMapping(text, names)));
  const columns = withFullName(new Map<Part, number[]>([...findKnown(names, mapped), ...mapped]));
  const indexes: GuestColumns['indexes'] = {};
  for (const field of FIELDS) {
    const own = columns.get(field);
    if (own) indexes[field] = own;
  }
  for (const field of ['fullName', 'emailAddress'] as const)
    if (!indexes[field]) throw badList(missing(field));
  const used = new Set(Object.values(indexes).flat());
  return { indexes, ignored: header.filter((name, index) => name !== '' && !used.has(index)) };
}

/** Returns the columns with a known name, except those that a mapping names. */
function findKnown(names: readonly string[], mapped: ReadonlyMap<Part, number[]>) {
  const isMapped = new Set([...mapped.values()].flat());
  const found = new Map<Part, number[]>();
  for (const [index, name] of names.entries()) {
    const part = PARTS.get(name);
    if (!part || isMapped.has(index) || mapped.has(part)) continue;
    found.set(part, [...(found.get(part) ?? []), index]);
  }
  for (const [part, indexes] of found) if (indexes.length > 1) throw badList(twice(part, indexes));
  return found;
}

/** Returns the columns with a name from two columns, if no column holds all of it. */
function withFullName(columns: ReadonlyMap<Part, number[]>): ReadonlyMap<Part, number[]> {
  const [first, last] = [columns.get('firstName'), columns.get('lastName')];
  if (columns.has('fullName') || !first || !last) return columns;
  return new Map(columns).set('fullName', [...first, ...last]);
}

const twice = (part: Part, indexes: readonly number[]) =>
  `columns ${indexes.map((index) => index + 1).join(' and ')} both hold ${part}; ` +
  `choose one, such as "Work e-mail=${part}"`;

const missing = (field: GuestField) =>
  `no column holds ${field}: the first row must name the columns, such as ${NAMES[field].slice(0, 2).join(' or ')}; ` +
  `for another name, give a mapping such as "Guest column=${field}"`;

const MAPPING_RULE = `columns and a field, such as Vorname+Nachname=fullName; the fields are ${FIELDS.join(', ')}`;

/** Returns the field of a mapping, and its columns. */
function readMapping(text: string, names: readonly string[]): [GuestField, number[]] {
  const at = text.lastIndexOf('=');
  const field = FIELDS.find((one) => plain(one) === plain(text.slice(at + 1)));
  if (at < 1 || !field) throw new InvalidInput({ map: MAPPING_RULE });
  const indexes = text
    .slice(0, at)
    .split('+')
    .map((name) => names.indexOf(plain(name)));
  if (indexes.includes(-1)) throw new InvalidInput({ map: `the header has no such column for ${field}` });
  return [field, indexes];
}
