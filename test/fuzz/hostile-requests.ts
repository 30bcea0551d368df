import { Type, type TObject, type TSchema } from '@sinclair/typebox';
import {
  Attendee,
  BODY_LIMIT_BYTES,
  CallerHeaders,
  formatPassReference,
  HoldConfirmation,
  HoldRelease,
  HoldRequest,
  RegisterHeaders,
  RegistrationRequest,
  WaitingRequest,
  WEBHOOK_EVENT_TYPES,
  WebhookRequest,
} from '@floodgate/contract';
import fc from 'fast-check';
import { gzipSync } from 'node:zlib';
import { attendee } from '../harness/partner-client.ts';
import { likelyValueOf, nested, quoted, valueOf, type JsonText } from './hostile-values.ts';
import { HOLDS } from './holds.ts';
import { BULK, REGISTER } from './judge.ts';
import type { Target } from './target.ts';
import { WAITING_LIST } from './waiting-list.ts';
import { URLS, WEBHOOKS } from './webhooks.ts';

type Header = readonly [name: string, value: string];
type Member = readonly [name: string, value: string];

/** Names that are more than names somewhere. */
const POISON = [
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
  '\\u005f_proto__',
  'then',
  'length',
  '',
];

/**
 * Registrations of every kind, made from the schemas of body and headers: a new field is fuzzed by being
 * there. Most are right but for one thing, because a second mistake hides the first.
 */
export function hostileRegistration(
  target: Target,
  keys: readonly string[] = [],
  holds: readonly string[] = [],
): fc.Arbitrary<Buffer> {
  return hostileCall(fc.constant(REGISTER), hostileBody(target), target, keys, holds);
}

/** Bulk calls with such registrations in them, and with other things in place of the list. */
export function hostileBulk(target: Target, keys: readonly string[] = []): fc.Arbitrary<Buffer> {
  const list = fc
    .array(sometimes(6, membersOf(target), fc.oneof(nested, valueOf(RegistrationRequest))), { maxLength: 6 })
    .map((items) => `[${items.join(',')}]`);
  const document = fc
    .record({
      list: sometimes(12, list, fc.oneof(nested, junkList)),
      mode: fc.constantFrom(null, null, '"each"', '"all"', '"all"', '"none"', '7'),
    })
    .map(({ list: items, mode }) => `{"registrations":${items}${mode === null ? '' : `,"mode":${mode}`}}`);
  return hostileCall(fc.constant(BULK), bodyOf(document), target, keys);
}

/**
 * Long lists of one item, up to more values than a body may have. None is larger than a body may be: the API
 * closes that connection at once, and a client that is still sending may see a reset before the answer.
 */
const junkList = fc
  .tuple(
    fc.constantFrom('1', '{}', '[]', '""', 'null', '"\\",[{"', '[[]]', '{"fullName":1}'),
    fc.constantFrom(1_000, 1_001, 8_000, 32_768, 65_535, 65_536, 200_000),
  )
  .map(([item, count]) =>
    Array<string>(Math.min(count, Math.floor(1_000_000 / (item.length + 1)))).fill(item),
  )
  .map((items) => `[${items.join(',')}]`);

/** Resets of an event that is none for tests, cancellations and confirmations of what is registered by then, of what is not, and registrations that there may be more. */
export function hostileChange(target: Target): fc.Arbitrary<Buffer> {
  const { passPrefix: prefix, eventId, model } = target;
  const nobody = { eventId, serial: 1, passCode: 1_000_000_000 };
  const known = fc
    .nat()
    .map((index) => model.registrations[index % Math.max(1, model.registrations.length)] ?? nobody)
    .map(({ serial, passCode }) => formatPassReference({ prefix, eventId, serial, passCode }));
  const wrong = fc.oneof(
    known.map((passReference) => `X${passReference}`),
    known.map((passReference) => `${passReference}0`),
    known.map((passReference) => passReference.replace(/\d{10}$/, '1000000000')),
    known.map((passReference) => passReference.replace(/-\d+-/, '-1-')),
    fc.constantFrom('-', 'GALA-1-1', 'GALA-0-0-0', 'a'.repeat(8_000)),
  );
  const path = fc
    .tuple(sometimes(4, known, wrong), fc.constantFrom('cancel', 'confirm'))
    .map(([one, name]) => `/api/v1/events/registrations/${one}/${name}`);
  const asked = sometimes(8, path, fc.constant('/api/v1/events/reset'));
  const change = hostileCall(asked, hostileBody(target), target, []);
  return fc.oneof(change, hostileRegistration(target), hostileRegistration(target, [], ['60', '1800']));
}

/** Webhooks that are asked for, right and wrong, and changes of such as there are not. */
export function hostileWebhook(target: Target): fc.Arbitrary<Buffer> {
  const fields = Object.entries<TSchema>(WebhookRequest.properties).filter(([name]) => name !== 'url');
  const url = sometimes(
    8,
    fc.constantFrom(...Object.keys(URLS)).map((text): Member => ['url', JSON.stringify(text)]),
    nested.map((value): Member => ['url', value]),
  );
  const others = fc
    .subarray(fields)
    .chain((some) =>
      fc.tuple(...some.map(([name, schema]) => webhookValue(schema).map((value): Member => [name, value]))),
    );
  const document = fc
    .tuple(sometimes(12, url, poisonMember), others, fc.array(poisonMember, { maxLength: 1 }))
    .map(([first, rest, poison]) => [...poison, first, ...rest])
    .map((members) => `{${members.map(([name, value]) => `"${name}":${value}`).join(',')}}`);
  const below = fc
    .tuple(UNKNOWN_ID, fc.constantFrom('pause', 'resume', 'test', 'replay', 'rotate'))
    .map(([one, name]) => `${WEBHOOKS}/${one}/${name}`);
  return hostileCall(sometimes(3, fc.constant(WEBHOOKS), below), bodyOf(document), target, []);
}

/** Entries of waiting lists, right and wrong, and leaving with such as there are not. */
export function hostileWaiting(target: Target, keys: readonly string[]): fc.Arbitrary<Buffer> {
  const contact = objectOf(WaitingRequest.properties.contact, {});
  // At and past both ends.
  const seats = fc.constantFrom('1', '2', '10', '1e1', '10.0', '0', '11', '1.5', '-1');
  const document = objectOf(WaitingRequest, { organizedEventTicketID: ticketId(target), seats, contact });
  const leave = UNKNOWN_ID.map((entry) => `${WAITING_LIST}/${entry}/leave`);
  return hostileCall(sometimes(5, fc.constant(WAITING_LIST), leave), bodyOf(document), target, keys);
}

/** Holds, right and wrong, and changes of those that were made by then, and of such as there are not. */
export function hostileHold(target: Target, keys: readonly string[]): fc.Arbitrary<Buffer> {
  const seats = sometimes(
    6,
    fc.constantFrom('1', '2', '3', '1e1', '4.0'),
    fc.constantFrom('100', '0', '101', '1.5', '-1'),
  );
  const ticket = objectOf(HoldRequest.properties.tickets.items, {
    organizedEventTicketID: ticketId(target),
    seats,
  });
  const hold = objectOf(HoldRequest, { tickets: listOf(ticket) });
  const id = sometimes(
    4,
    fc.nat().map((index) => [...target.holds.keys()][index % Math.max(1, target.holds.size)] ?? '0'),
    UNKNOWN_ID,
  );
  const pathOf = (change: string) => id.map((one) => `${HOLDS}/${one}/${change}`);
  const attendeeOf = objectOf(Attendee, {});
  const confirmations = fc.oneof(
    objectOf(Type.Pick(HoldConfirmation, ['contact']), { contact: attendeeOf }),
    objectOf(Type.Pick(HoldConfirmation, ['attendees']), { attendees: listOf(attendeeOf) }),
    objectOf(HoldConfirmation, { contact: attendeeOf, attendees: listOf(attendeeOf) }),
  );
  const references = listOf(fc.constantFrom('"GALA-1-1-1234567890"', '""', 'null', '7'));
  const release = fc.oneof(fc.constant('{}'), objectOf(HoldRelease, { passReferences: references }));
  return fc.oneof(
    { weight: 3, arbitrary: hostileCall(fc.constant(HOLDS), bodyOf(hold), target, keys, ['60', '1800']) },
    hostileCall(pathOf('confirm'), bodyOf(confirmations), target, []),
    hostileCall(pathOf('extend'), bodyOf(fc.constant('{}')), target, [], ['60', '1800']),
    hostileCall(pathOf('release'), bodyOf(release), target, []),
  );
}

const UNKNOWN_ID = fc.constantFrom('0f1e2d3c-4b5a-4697-8879-6a5b4c3d2e1f', '0', 'constructor', '0f1e2d3c');

const listOf = (item: JsonText): JsonText =>
  fc.array(item, { maxLength: 3 }).map((items) => `[${items.join(',')}]`);

/** An object from a schema: mostly right, or with one wrong value, one field too many or one too few. */
function objectOf(schema: TObject, values: Record<string, JsonText>): JsonText {
  const members = fc.tuple(
    ...Object.entries<TSchema>(schema.properties).map(([name, field]) =>
      sometimes(12, values[name] ?? likelyValueOf(field), fc.oneof(nested, valueOf(field))).map(
        (value): Member => [name, value],
      ),
    ),
  );
  return fc
    .tuple(members, fc.array(poisonMember, { maxLength: 1 }), sometimes(8, fc.constant(-1), fc.nat(3)))
    .map(([own, poison, without]) => [...poison, ...own.filter((_, index) => index !== without)])
    .map((all) => `{${all.map(([name, value]) => `"${name}":${value}`).join(',')}}`);
}

const bodyOf = (document: JsonText): fc.Arbitrary<Buffer> =>
  sometimes(
    10,
    document.map((text) => Buffer.from(text)),
    spoiled(document),
  );

/** Values of a field; of lists, those of its items as well. */
const webhookValue = (schema: TSchema): JsonText =>
  schema['items']
    ? fc.oneof(
        fc.subarray([...WEBHOOK_EVENT_TYPES]).map((types) => JSON.stringify(types)),
        fc.constantFrom('["ticket.reopened","ticket.reopened"]', '["held"]', '[null]', '{}', '[[]]'),
      )
    : sometimes(2, likelyValueOf(schema), valueOf(schema));

function hostileCall(
  path: fc.Arbitrary<string>,
  body: fc.Arbitrary<Buffer>,
  target: Target,
  keys: readonly string[],
  holds: readonly string[] = [],
) {
  return fc
    .record({
      path,
      body,
      headers: hostileHeaders(target, keys, holds),
      isChunked: fc.boolean(),
      query: fc.constantFrom('', '', '', '?a=1', '?organizedEventTicketID=0', '?__proto__[gender]=1'),
    })
    .map(({ path: where, body: bytes, headers, isChunked, query }) => {
      const framing = isChunked ? 'transfer-encoding: chunked' : `content-length: ${bytes.length}`;
      const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('');
      const head = `POST ${where}${query} HTTP/1.1\r\nhost: api\r\n${lines}${framing}\r\n\r\n`;
      return Buffer.concat([Buffer.from(head, 'latin1'), isChunked ? chunked(bytes) : bytes]);
    });
}

function chunked(body: Buffer): Buffer {
  const middle = body.length >> 1;
  const parts = [body.subarray(0, middle), body.subarray(middle)].filter(({ length }) => length > 0);
  const chunks = parts.flatMap((part) => [
    Buffer.from(`${part.length.toString(16)}\r\n`),
    part,
    Buffer.from('\r\n'),
  ]);
  return Buffer.concat([...chunks, Buffer.from('0\r\n\r\n')]);
}

const sometimes = <T>(weight: number, usual: fc.Arbitrary<T>, unusual: fc.Arbitrary<T>) =>
  fc.oneof({ weight, arbitrary: usual }, { weight: 1, arbitrary: unusual });

/** The JSON of a registration, and everything that may be sent in its place. */
function hostileBody(target: Target): fc.Arbitrary<Buffer> {
  return bodyOf(sometimes(12, membersOf(target), fc.oneof(nested, valueOf(RegistrationRequest))));
}

function membersOf(target: Target): JsonText {
  const fields = Object.entries(RegistrationRequest.properties);
  const drawn = fc.tuple(...fields.map(([name, schema]) => usualMember(target, name, schema)));
  // The very same one often, so that one that differs in a single field meets it.
  const same = Object.entries(attendee(target.ticketIds[0]!)).map(([name, value]): Member => [
    name,
    JSON.stringify(value),
  ]);
  const usual = sometimes(2, drawn, fc.constant(same));
  const unusual = fc.oneof(
    ...fields.map(([name, schema]) => valueOf(schema).map((value): Member => [name, value])),
    ...fields.map(([name, schema]) => likelyValueOf(schema).map((value): Member => [name, value])),
    poisonMember,
    fc
      .tuple(fc.string(), fc.json({ maxDepth: 2 }))
      .map(([name, value]): Member => [JSON.stringify(name).slice(1, -1), value]),
  );
  return fc
    .record({
      members: usual,
      extra: fc.array(unusual, { maxLength: 2 }),
      isExtraFirst: fc.boolean(),
      without: fc.option(fc.nat(fields.length - 1), { freq: 8, nil: -1 }),
      indent: fc.constantFrom('', ' ', '\r\n\t'),
    })
    .map(({ members, extra, isExtraFirst, without, indent }) => {
      const own = members.filter((member, index): member is Member => member !== null && index !== without);
      const all = isExtraFirst ? [...extra, ...own] : [...own, ...extra];
      return `${indent}{${all.map(([name, value]) => `${indent}"${name}":${indent}${value}`).join(',')}}`;
    });
}

function usualMember(target: Target, name: string, schema: TSchema): fc.Arbitrary<Member | null> {
  const isRequired = RegistrationRequest.required.includes(name as never);
  const value = name === 'organizedEventTicketID' ? ticketId(target) : likelyValueOf(schema);
  const member = value.map((text): Member => [name, text]);
  return isRequired ? member : sometimes(3, member, fc.constant(null));
}

const ticketId = ({ ticketIds: [roomy, ...others] }: Target): JsonText =>
  sometimes(
    6,
    fc.constantFrom(`${roomy}`, `${roomy}`, `${roomy}.0`, `${roomy}e0`),
    fc.constantFrom(...others.map(String)),
  );

/** A name that is more than a name, on the surface or further down. */
const poisonMember: fc.Arbitrary<Member> = fc
  .tuple(
    fc.constantFrom(...POISON),
    fc.constantFrom('{"gender":5}', '{"prototype":{"gender":5}}', 'null', '7'),
    fc.nat(3),
  )
  .map(([name, value, depth]) => {
    const inner = `${'{"a":'.repeat(depth)}{"${name}":${value}}${'}'.repeat(depth)}`;
    return depth === 0 ? [name, value] : ['extra', inner];
  });

/** What becomes of a document on its way: cut, doubled, in another encoding, packed. */
function spoiled(document: JsonText): fc.Arbitrary<Buffer> {
  const utf8 = document.map((text) => Buffer.from(text));
  // Bytes that are no UTF-8: alone, overlong, surrogates, beyond the last plane, half a character.
  const noUtf8 = fc
    .constantFrom('ff', 'c080', 'eda080', 'f4908080', 'e282', 'f09f98', '80')
    .map((hex) => Buffer.from(hex, 'hex'));
  return fc.oneof(
    utf8.map((bytes) => Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), bytes])),
    document.map((text) => Buffer.from(`\ufeff${text}`, 'utf16le')),
    utf8.map((bytes) => gzipSync(bytes)),
    fc
      .tuple(utf8, fc.constantFrom('x', '{}', '\0', ',', ']', '//', '\u2028', ' \n\t\r'))
      .map(([bytes, tail]) => Buffer.concat([bytes, Buffer.from(tail)])),
    fc.tuple(utf8, fc.nat()).map(([bytes, at]) => bytes.subarray(0, at % (bytes.length + 1))),
    // Between two quotes of the text, where it does no other harm.
    fc.tuple(utf8, noUtf8, fc.nat()).map(([bytes, wrong, at]) => insertBehindQuote(bytes, wrong, at)),
    fc
      .constantFrom(BODY_LIMIT_BYTES - 1, BODY_LIMIT_BYTES, BODY_LIMIT_BYTES + 1, 50_000)
      .map((length) => Buffer.alloc(length, '{} '.slice(0, 2).padEnd(length))),
    fc.constant(Buffer.alloc(0)),
  );
}

function insertBehindQuote(bytes: Buffer, wrong: Buffer, at: number): Buffer {
  const quotes = [...bytes.keys()].filter((index) => bytes[index] === 0x22);
  const index = (quotes[at % Math.max(1, quotes.length)] ?? 0) + 1;
  return Buffer.concat([bytes.subarray(0, index), wrong, bytes.subarray(index)]);
}

const TYPES = ['application/json', 'application/json; charset=utf-8', 'APPLICATION/JSON'];
const OTHER_TYPES = [
  '',
  'text/plain',
  'application/x-www-form-urlencoded',
  'application/jsonp',
  'application/json2',
  'text/json',
];
const ODD_TYPES = [
  'application/json;',
  'application/json; a',
  'application/json, text/plain',
  ' ; ',
  'application/json;charset=utf-16',
];

/** The headers that the schemas know, mostly right, sometimes wrong, absent or there twice. */
function hostileHeaders(
  target: Target,
  keys: readonly string[],
  holds: readonly string[],
): fc.Arbitrary<Header[]> {
  const usual: Record<string, fc.Arbitrary<string>> = {
    'x-secret-key': fc.constant(target.secretKey),
    'x-event-ref': fc.constantFrom(target.eventRef, target.eventRef.toUpperCase()),
    'content-type': fc.constantFrom(...TYPES),
    ...(keys.length > 0 && { 'idempotency-key': fc.constantFrom(...keys) }),
    ...(holds.length > 0 && { 'hold-for': fc.constantFrom(...holds) }),
  };
  const unusual: Record<string, fc.Arbitrary<string>> = {
    ...headersOf(RegisterHeaders),
    'x-secret-key': fc.constantFrom(
      ...target.closedKeys,
      '',
      'fg_',
      `${target.secretKey} `,
      `${target.secretKey}x`,
      'x'.repeat(9_000),
    ),
    'x-event-ref': fc.oneof(
      headersOf(CallerHeaders)['x-event-ref']!,
      fc.constantFrom(target.foreignEventRef, ''),
    ),
    'content-type': fc.constantFrom(...OTHER_TYPES, ...ODD_TYPES),
    'content-encoding': fc.constantFrom('gzip', 'identity', 'br, gzip'),
    expect: fc.constantFrom('100-continue', '200-maybe'),
    upgrade: fc.constantFrom('websocket', 'h2c'),
    'accept-encoding': fc.constant('gzip'),
    __proto__x: fc.constant('1'),
    constructor: fc.constant('1'),
  };
  const names = Object.keys(usual);
  const right = fc.tuple(...names.map((name) => usual[name]!.map((value): Header => [name, value])));
  const change = fc.oneof(
    ...Object.entries(unusual).map(([name, value]) =>
      fc
        .tuple(fc.constantFrom('replace', 'append', 'prepend'), value)
        .map(([how, drawn]) => ({ how, header: [name, drawn] as Header })),
    ),
    fc.nat(names.length - 1).map((index) => ({ how: 'remove', header: [names[index]!, ''] as Header })),
    fc.nat(names.length - 1).map((index) => ({ how: 'double', header: [names[index]!, ''] as Header })),
  );
  return sometimes(
    6,
    right.map((headers): Header[] => headers),
    fc.tuple(right, change).map(([headers, one]) => changed(headers, one)),
  );
}

function changed(headers: readonly Header[], { how, header }: { how: string; header: Header }): Header[] {
  const others = headers.filter(([name]) => name !== header[0]);
  const same = headers.filter(([name]) => name === header[0]);
  if (how === 'remove') return others;
  if (how === 'double') return [...headers, ...same];
  if (how === 'replace') return [...others, header];
  return how === 'append' ? [...headers, header] : [header, ...headers];
}

/** Header values from a schema. A header is bytes: what lies beyond cannot be sent. */
function headersOf(schema: TObject): Record<string, fc.Arbitrary<string>> {
  const entries = Object.entries<TSchema>(schema.properties).map(([name, property]) => {
    const text = fc
      .oneof(valueOf(property), quoted(fc.string({ maxLength: 300 })))
      .map((json) => json.replaceAll(/^"|"$/g, ''));
    // Line ends and NUL are for the lane that breaks HTTP itself.
    return [name, text.map((value) => value.replaceAll(/[\r\n\0]/g, ' ').slice(0, 5_000))] as const;
  });
  return Object.fromEntries(entries);
}
