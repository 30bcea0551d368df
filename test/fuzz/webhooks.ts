import { BODY_LIMIT_BYTES } from '@floodgate/contract';
import { headerOf, type StrictRequest } from './read-strictly.ts';
import { valueOf } from './registration-rules.ts';

// What the documentation promises of webhooks: an opinion of its own.

export const WEBHOOKS = '/api/v1/webhooks';

/** URLs, and whether messages may be sent there, as far as their text tells. */
export const URLS: Readonly<Record<string, boolean>> = {
  'https://partner.example/hook': true,
  'https://partner.example:8443/?a=1#b': true,
  'https://127.0.0.1/': true,
  [`https://partner.example/${'a'.repeat(2_024)}`]: true,
  [`https://partner.example/${'a'.repeat(2_025)}`]: false,
  'http://partner.example/hook': false,
  'HTTPS://partner.example/hook': false,
  'https://user@partner.example/': false,
  'https://user:password@partner.example/': false,
  'https://:@partner.example/': true,
  'https://': false,
  'https://partner example/': false,
  'https://[::1/': false,
  'https://partner.example:99999/': false,
  'https://pärtner.example/': false,
  'javascript:alert(1)': false,
  'file:///etc/passwd': false,
  '': false,
};

const TYPES = new Set([
  'registration.confirmed',
  'registration.cancelled',
  'registration.failed',
  'registration.admitted',
  'registration.admitted_again',
  'ticket.sold_out',
  'ticket.reopened',
  'waiting.joined',
  'waiting.offered',
  'waiting.expired',
  'waiting.confirmed',
]);

const isTypes = (value: unknown) =>
  Array.isArray(value) &&
  value.length > 0 &&
  new Set(value).size === value.length &&
  value.every((type: string) => TYPES.has(type));

const isUrl = (value: unknown) => typeof value === 'string' && URLS[value] === true;

const isDescription = (value: unknown) =>
  typeof value === 'string' &&
  value.isWellFormed() &&
  Array.from(value).length <= 255 &&
  !Array.from(value).some((character) => character < ' ' || character === '\u007f');

const isInclude = (value: unknown) =>
  Array.isArray(value) && value.length <= 1 && value.every((field) => field === 'partnerReference');

const isEntries = (value: unknown) =>
  typeof value === 'number' && Math.floor(value) === value && value >= 1 && value <= 500;

/** Returns whether a webhook may be asked for like this. */
function isRight(body: object): boolean {
  const optional = (name: string, isValid: (value: unknown) => boolean) => {
    const value = valueOf(body, name);
    return value === undefined || isValid(value);
  };
  return (
    isUrl(valueOf(body, 'url')) &&
    optional('description', isDescription) &&
    optional('types', isTypes) &&
    optional('include', isInclude) &&
    optional('entriesPerMessage', isEntries) &&
    optional('from', (value) => value === 'start' || value === 'now') &&
    optional('paused', (value) => typeof value === 'boolean')
  );
}

/** Whether a request is about webhooks. */
export const isAboutWebhooks = ({ method, target }: StrictRequest) =>
  method === 'POST' &&
  /^\/api\/v1\/webhooks(?:\/[\w-]+\/(?:pause|resume|test|replay|rotate))?$/.test(target.split(/[?#]/, 1)[0]!);

const UNREAD = /\/(?:pause|resume|test)$/;
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** What a caller is answered whose body is JSON. Webhooks of other routes do not exist. */
export function codesOfWebhook({ target }: StrictRequest, json: object) {
  const path = target.split(/[?#]/, 1)[0]!;
  if (path === WEBHOOKS) return isRight(json) ? (['00', '71'] as const) : (['11'] as const);
  // Fields of the body may be wrong as well.
  return UUID.test(path.split('/')[4]!) ? (['70', '11'] as const) : (['11'] as const);
}

/** Whether the body is missing or empty, and every field is optional. */
const isOmitted = (path: string, request: StrictRequest) =>
  path.endsWith('/rotate') && request.body.length === 0 && !hasOtherType(request);

/** Whether a chunked body has a type that does not match. Without chunks, the type of an empty body does not matter. */
const isChunkedWithout = (type: RegExp, request: StrictRequest) =>
  headerOf(request, 'transfer-encoding') !== undefined && !type.test(headerOf(request, 'content-type') ?? '');

/** Whether a chunked body has another type than JSON. */
export const hasOtherType = (request: StrictRequest) =>
  isChunkedWithout(/^application\/json[\t ]*(?:;|$)/i, request);

/** `10` if an empty body may be refused or not: it is chunked, and its type has parameters that are not well-formed. */
export const ifUnclear = (request: StrictRequest) =>
  isChunkedWithout(/^application\/json(?:; ?charset="?utf-8"?)?$/i, request) ? (['10'] as const) : [];

/** What a caller is answered whose body is not read; undefined where it is. */
export function codesWithoutBody(request: StrictRequest) {
  const { target, body } = request;
  const path = target.split(/[?#]/, 1)[0]!;
  const isUnread = UNREAD.test(path);
  if (!isUnread && !isOmitted(path, request)) return undefined;
  if (body.length > BODY_LIMIT_BYTES) return ['10'] as const;
  const code = UUID.test(path.split('/')[4]!) ? '70' : '11';
  return [code, ...(isUnread ? [] : ifUnclear(request))] as const;
}
