import {
  BODY_LIMIT_BYTES,
  BULK_BODY_LIMIT_BYTES,
  BULK_LIMIT,
  normalizePerson,
  parsePassReference,
  MAX_RETRY_AFTER_SECONDS,
  RESPONSE_CODES,
  type Hold,
} from '@floodgate/contract';
import type { BulkReservation, Reservation, SeatOutcome } from '@floodgate/registrations';
import { changeBy, codesOfChange, codesOfReset, isReset, judgeChange } from './changes.ts';
import {
  codesOfHold,
  codesWithoutHoldBody,
  confirmsHold,
  hasWrongReference,
  HOLDS,
  isAboutHolds,
} from './holds.ts';
import { Finding, type WireAnswer } from './read-answers.ts';
import { headerOf, type StrictReading, type StrictRequest } from './read-strictly.ts';
import { RULES, valueOf, wrongFields } from './registration-rules.ts';
import type { Target } from './target.ts';
import { codesOfJoin, codesOfLeave, isAboutWaiting, WAITING_LIST } from './waiting-list.ts';
import { codesOfWebhook, codesWithoutBody, isAboutWebhooks, WEBHOOKS } from './webhooks.ts';

export const REGISTER = '/api/v1/events/register';
export const BULK = `${REGISTER}/bulk`;
export const LAUNCH = '/api/v1/events/launch';
export const TICKETS = '/api/v1/events/tickets';
export const REGISTRATIONS = '/api/v1/events/registrations/';
export const REVOKED = '/api/v1/events/passes/revoked';
export const SIGNED_EVENT = '/api/v1/events/passes/event';

/** The documentation of code 10 states it. */
const URL_LIMIT = 2_048;

type Code = keyof typeof RESPONSE_CODES;

/** An answer whose envelope was checked. */
interface Answer extends WireAnswer {
  /** Null where the answer is none of the interface's, like a page of the documentation. */
  code: Code | null;
  message: string;
  data: unknown;
}

/** What a request may be answered. */
interface Verdict {
  codes: readonly Code[];
  /** The fields that the message has to name. */
  wrong?: readonly string[];
  /** What a valid registration asks for. */
  reservation?: Reservation;
  /** What a bulk call asks for. */
  bulk?: BulkVerdict;
}

interface BulkVerdict {
  /** By place: the fields that are wrong, or what is asked for. */
  items: (readonly string[] | Reservation)[];
  isAll: boolean;
  key: string | undefined;
}

const REFUSALS = {
  'no-such-ticket': '30',
  'not-on-sale': '31',
  'sold-out': '32',
  'allocation-sold': '32',
  duplicate: '33',
  'group-refused': '36',
  'hold-limit': '37',
  'key-reused': '40',
} as const;
const OUTCOMES: readonly Code[] = ['00', ...Object.values(REFUSALS), '41'];

/**
 * Compares what came back on a connection with what was sent, and remembers what was registered.
 * `wireAnswers` belong to the requests in order. Throws a Finding where they do not fit.
 */
export function judge(target: Target, reading: StrictReading, wireAnswers: readonly WireAnswer[]): void {
  const { requests, end, partial } = reading;
  const isWhole = end === 'clean' || end === 'closed';
  const most = requests.length + (isWhole ? 0 : 1);
  if (wireAnswers.length > most) throw new Finding(`${wireAnswers.length} answers, ${most} requests at most`);
  const answers = wireAnswers.map((answer, index) => checkEnvelope(answer, requests[index] ?? partial));
  answers.forEach((answer, index) => {
    const request = requests[index];
    const isOnly = requests.length === 1 && end === 'clean';
    if (request) judgeAnswer(target, request, answer, isOnly);
    else judgeLastAnswer(target, partial, answer);
  });
  // A request behind an answer that closes the connection may have been carried out all the same.
  rememberUnanswered(target, requests.slice(answers.length));
  if (answers.length < requests.length && !answers.at(-1)?.headers.get('connection')?.includes('close'))
    throw new Finding(`${answers.length} answers to ${requests.length} requests, and no sign of the close`);
  if (end === 'malformed' && answers.length < most && answers.at(-1)?.headers.get('connection') !== 'close')
    throw new Finding('closed without a word');
}

/** Requests whose answers nobody has seen: they may have been carried out or not. */
export function rememberUnanswered(target: Target, requests: readonly StrictRequest[]): void {
  for (const request of requests) {
    const { reservation, bulk } = bodyVerdict(target, request);
    if (reservation) target.unanswered.push(reservation);
    if (bulk) target.unanswered.push(...reservationsIn(bulk));
  }
}

const ENVELOPE = /^\{"responseCode":"([0-9]{2})","responseMessage":"(?:[^"\\]|\\.)+","responseData":.+\}$/s;

function checkEnvelope(answer: WireAnswer, request: StrictRequest | undefined): Answer {
  const { status, headers, text } = answer;
  if (!/^[0-9a-z-]+$/.test(headers.get('x-request-id') ?? '')) throw new Finding('no x-request-id');
  const isHead = (request?.method ?? 'HEAD') === 'HEAD' && text === '';
  if (isHead || (status < 400 && !isEnvelopeRoute(request))) {
    if (status >= 500) throw new Finding(`status ${status}`);
    return { ...answer, code: null, message: '', data: null };
  }
  const code = ENVELOPE.exec(text)?.[1] as Code | undefined;
  if (!code || !Object.hasOwn(RESPONSE_CODES, code)) throw new Finding(`no envelope: ${text}`);
  if (headers.get('content-type') !== 'application/json; charset=utf-8') throw new Finding('no JSON type');
  const { httpStatuses, retryAfterSeconds } = RESPONSE_CODES[code];
  if (!httpStatuses.includes(status)) throw new Finding(`code ${code} with status ${status}`);
  if (!isRetryAfter(headers.get('retry-after') ?? null, retryAfterSeconds)) throw new Finding('Retry-After');
  const { responseMessage, responseData } = JSON.parse(text) as Record<string, unknown>;
  if (code !== '00' && responseData !== null) throw new Finding(`a failure with data: ${text}`);
  return { ...answer, code, message: String(responseMessage), data: responseData };
}

const isRetryAfter = (value: string | null, leastSeconds: number | undefined) =>
  !leastSeconds
    ? value === null
    : /^[1-9]\d?$/.test(value ?? '') &&
      Number(value) >= leastSeconds &&
      Number(value) <= MAX_RETRY_AFTER_SECONDS;

const isEnvelopeRoute = (request: StrictRequest | undefined) =>
  [REGISTER, TICKETS, LAUNCH, SIGNED_EVENT, REVOKED, REGISTRATIONS, HOLDS, WAITING_LIST, WEBHOOKS].some(
    (route) => request?.target.startsWith(route),
  );

function judgeAnswer(target: Target, request: StrictRequest, answer: Answer, isOnly: boolean): void {
  // A server may be stricter than the reader, but then it has to close the connection.
  if (!request.isPlain && isRefusedAsMalformed(answer)) return;
  const verdict = verdictOn(target, request, answer);
  if (!verdict || answer.code === null) return;
  if (!verdict.codes.includes(answer.code)) {
    throw new Finding(`answered ${answer.code} (${answer.message}), expected ${verdict.codes.join(' or ')}`);
  }
  if (verdict.wrong && answer.code === '11') compareNames(answer, verdict.wrong);
  if (verdict.reservation && OUTCOMES.includes(answer.code)) {
    judgeOutcome(target, verdict.reservation, answer, isOnly);
  }
  if (isAboutHolds(request) && answer.code === '00') rememberHold(target, answer);
  const change = changeBy(request);
  if (change && ['00', '34', '35'].includes(answer.code)) judgeChange(target, change, answer.code);
  if (verdict.bulk && answer.code !== '41' && answer.code !== '10')
    judgeBulk(target, verdict.bulk, answer, isOnly);
}

/** Every answer "00" about a hold has all its seats. */
function rememberHold({ eventId, holds, passPrefix }: Target, { data }: Answer): void {
  const { holdReference, seats } = data as Hold;
  const parts = seats.map(({ passReference }) => parsePassReference(passReference));
  if (!parts.every((one) => one?.eventId === eventId && one.prefix === passPrefix))
    throw new Finding(`seats of another event: ${JSON.stringify(seats)}`);
  const before = holds.get(holdReference) ?? seats.length;
  if (before !== seats.length) throw new Finding(`a hold of ${before} seats has ${seats.length}`);
  holds.set(holdReference, seats.length);
}

/** The one answer more that there may be to what is no whole request. */
function judgeLastAnswer(target: Target, partial: StrictRequest | undefined, answer: Answer): void {
  // A CONNECT is refused whatever else is wrong with it.
  const isConnect = answer.code === '60' && answer.headers.get('connection') === 'close';
  if (isRefusedAsMalformed(answer) || isConnect || answer.code === null) return;
  if (!partial || !codesBeforeBody(target, partial).includes(answer.code))
    throw new Finding(`what is no whole request was answered ${answer.code} (${answer.message})`);
}

/** What may be answered to a head alone: what is wrong with it, and what needs no body. */
function codesBeforeBody(target: Target, head: StrictRequest): readonly Code[] {
  const refusals = [...(callerVerdict(target, head)?.codes ?? []), ...(routeVerdict(head)?.codes ?? [])];
  if (
    head.method === 'POST' &&
    (isRegister(head) ||
      changeBy(head) ||
      isAboutHolds(head) ||
      isAboutWaiting(head) ||
      isAboutWebhooks(head))
  )
    return [...refusals, '10'];
  return [...refusals, '00', '10', '11', '34', '35', '60'];
}

const isRefusedAsMalformed = ({ code, headers }: Answer) =>
  code === '10' && headers.get('connection') === 'close';

function compareNames({ message }: Answer, wrong: readonly string[]): void {
  const named = Object.keys(RULES).filter((name) => message.includes(`${name}: `));
  if (named.join() !== wrong.join()) throw new Finding(`named ${named.join()}, wrong are ${wrong.join()}`);
}

/** What the standard and the documentation say; null where they leave it open. */
function verdictOn(target: Target, request: StrictRequest, answer: Answer): Verdict | null {
  const hosts = request.headers.filter(([name]) => name.toLowerCase() === 'host');
  if (request.method === 'CONNECT') return { codes: ['60'] };
  if (hosts.length > 1 || (hosts.length === 0 && request.version === '1.1')) return { codes: ['10'] };
  if (hosts.length === 1 && !isHost(hosts[0]![1])) return { codes: ['10'] };
  if (request.target.length > URL_LIMIT) return { codes: ['10'] };
  if (changeBy(request)) return callerVerdict(target, request) ?? { codes: codesOfChange(request) };
  if (isReset(request)) return callerVerdict(target, request) ?? { codes: codesOfReset(request) };
  if (isAboutHolds(request)) return callerVerdict(target, request) ?? holdVerdict(target, request);
  if (isAboutWaiting(request)) return callerVerdict(target, request) ?? waitingVerdict(target, request);
  if (isAboutWebhooks(request)) return callerVerdict(target, request) ?? webhookVerdict(target, request);
  const isPassReference = answer.code === '00' && typeof answer.data === 'string';
  const asksForSeats = request.method === 'POST' && isRegister(request);
  // However the path was written: a seat was taken, so everything else has to be right.
  if (asksForSeats || isPassReference) return callerVerdict(target, request) ?? bodyVerdict(target, request);
  const route = routeVerdict(request);
  if (route) return route;
  if (!['GET', 'HEAD'].includes(request.method)) return null;
  if ([TICKETS, LAUNCH].includes(pathOf(request))) return callerVerdict(target, request) ?? { codes: ['00'] };
  const codes = codesOfRead(request);
  return codes && (callerVerdict(target, request) ?? { codes });
}

/** What is answered to whoever may read of registrations; null where the path is not about them. */
function codesOfRead(request: StrictRequest): Code[] | null {
  if (isRegistration(request)) return ['00', '34'];
  // A query may be right or not.
  if (pathOf(request) === REVOKED) return request.target === REVOKED ? ['00'] : ['00', '11'];
  if (!isPass(request)) return null;
  // Nothing is finalized here, so nobody has a pass.
  return headerOf(request, 'accept') === undefined ? ['34', '35'] : ['11', '34', '35'];
}

/** A name, an IPv4 address or an IPv6 address in brackets, and a port or not (RFC 3986, 3.2.2). */
function isHost(text: string): boolean {
  const colon = text.lastIndexOf(':');
  const hasPort = colon > text.lastIndexOf(']');
  const host = hasPort ? text.slice(0, colon) : text;
  if (hasPort && !consistsOf(text.slice(colon + 1), DIGITS)) return false;
  if (host.startsWith('['))
    return host.length > 2 && host.endsWith(']') && consistsOf(host.slice(1, -1), `${HEX_DIGITS}:.`);
  const unescaped = host.replaceAll(/%[0-9A-Fa-f]{2}/g, '');
  return consistsOf(unescaped, `${DIGITS}${LETTERS}-._~!$&'()*+;=`);
}

const DIGITS = '0123456789';
const HEX_DIGITS = `${DIGITS}abcdefABCDEF`;
const LETTERS = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ';

const consistsOf = (text: string, characters: string) =>
  Array.from(text).every((character) => characters.includes(character));

const pathOf = ({ target }: StrictRequest) => target.split(/[?#]/, 1)[0]!;

/** Whether the body can be as large as that of a bulk call. */
const isLarge = (request: StrictRequest) => pathOf(request) === BULK || confirmsHold(request);

const isRegister = (request: StrictRequest) => [REGISTER, BULK].includes(pathOf(request));

/** The path of one registration, and nothing that routers differ about. */
const isRegistration = (request: StrictRequest) =>
  pathOf(request).startsWith(REGISTRATIONS) &&
  /^[A-Za-z0-9-]+$/.test(pathOf(request).slice(REGISTRATIONS.length));

/** The same of its pass. */
const isPass = (request: StrictRequest) =>
  pathOf(request).startsWith(REGISTRATIONS) &&
  /^[A-Za-z0-9-]+\/pass$/.test(pathOf(request).slice(REGISTRATIONS.length));

function routeVerdict(request: StrictRequest): Verdict | null {
  const path = pathOf(request);
  if (!request.isPlain || !/^(?:\/[A-Za-z0-9_-]+)+$/.test(path)) return null;
  const method = request.method === 'HEAD' ? 'GET' : request.method;
  if (isRegister(request)) return method === 'POST' ? null : { codes: ['60'] };
  const isRead = isRegistration(request) || isPass(request);
  if (path.startsWith(REGISTRATIONS) && !isRead) return null;
  if ([TICKETS, LAUNCH, SIGNED_EVENT, REVOKED, '/api/v1/openapi.json'].includes(path) || isRead)
    return method === 'GET' ? null : { codes: ['60'] };
  return path.startsWith('/api/') ? { codes: ['60'] } : null;
}

function callerVerdict(target: Target, request: StrictRequest): Verdict | null {
  if (headerOf(request, 'x-secret-key') !== target.secretKey) return { codes: ['20'] };
  const eventRef = headerOf(request, 'x-event-ref') ?? '';
  if (!isUuid(eventRef)) return { codes: ['12'] };
  return eventRef.toLowerCase() === target.eventRef ? null : { codes: ['21'] };
}

function isUuid(text: string): boolean {
  const parts = text.split('-');
  const areHex = parts.every((part) => consistsOf(part, HEX_DIGITS));
  return areHex && parts.map(({ length }) => length).join() === '8,4,4,4,12';
}

function webhookVerdict(target: Target, request: StrictRequest): Verdict {
  const codes = codesWithoutBody(request);
  return codes ? { codes } : bodyVerdict(target, request);
}

function waitingVerdict(target: Target, request: StrictRequest): Verdict {
  const codes = codesOfLeave(request);
  return codes ? { codes } : bodyVerdict(target, request);
}

function holdVerdict(target: Target, request: StrictRequest): Verdict {
  const codes = codesWithoutHoldBody(request, isHold(headerOf(request, 'hold-for')));
  if (codes) return { codes };
  const verdict = bodyVerdict(target, request);
  return hasWrongReference(request) ? { codes: [...verdict.codes, '11'] } : verdict;
}

function bodyVerdict(target: Target, request: StrictRequest): Verdict {
  const type = headerOf(request, 'content-type');
  if (request.body.length > (isLarge(request) ? BULK_BODY_LIMIT_BYTES : BODY_LIMIT_BYTES))
    return { codes: ['10'] };
  if (type === undefined && request.body.length === 0) {
    const isChunked = headerOf(request, 'transfer-encoding') !== undefined;
    return isChunked ? { codes: ['10'] } : { codes: ['11'], wrong: [] };
  }
  if (!/^application\/json[\t ]*(?:;|$)/i.test(type ?? '')) return { codes: ['10'] };
  // Whatever the body is: nobody undoes it.
  if ((headerOf(request, 'content-encoding') ?? 'identity').toLowerCase() !== 'identity')
    return { codes: ['10'] };
  // Parameters that are not well-formed may be refused or not.
  const isClear = /^application\/json(?:; ?charset="?utf-8"?)?$/i.test(type ?? '');
  const verdict = jsonVerdict(target, request);
  return isClear ? verdict : { ...verdict, codes: [...verdict.codes, '10'] };
}

function jsonVerdict(target: Target, request: StrictRequest): Verdict {
  let body: unknown;
  try {
    // What is not UTF-8 cannot be stored as it was sent. A byte order mark may be there.
    body = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(request.body));
  } catch {
    return { codes: ['10'] };
  }
  const most = isLarge(request) ? 65_536 : 1_024;
  // Two bytes for each value are always allowed.
  if (request.body.length > 2 * most && countOfValues(request.body) > most) return { codes: ['10'] };
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return { codes: ['11'], wrong: [] };
  if (isAboutWebhooks(request)) return { codes: codesOfWebhook(request, body) };
  if (isAboutWaiting(request))
    return { codes: isKey(headerOf(request, 'idempotency-key')) ? codesOfJoin(body) : ['11'] };
  const options = optionsIn(request);
  if (isAboutHolds(request)) return { codes: codesOfHold(request, body, areRight(options)) };
  if (pathOf(request) === BULK) return bulkVerdict(target, body, options);
  const wrong = wrongFields(body);
  if (wrong.length > 0 || !areRight(options)) return { codes: ['11'], wrong };
  return { codes: OUTCOMES, reservation: reservationOf(target, body, options) };
}

/** How many values well-formed JSON has, where an empty object or list counts as two. */
const countOfValues = (json: Buffer): number =>
  1 +
  (json
    .toString('latin1')
    .replaceAll(/"(?:[^"\\]|\\.)*"/gs, '')
    .match(/[,[{]/g)?.length ?? 0);

function bulkVerdict(target: Target, body: object, options: CallOptions): Verdict {
  const list = valueOf(body, 'registrations');
  const mode = valueOf(body, 'mode');
  const isList = Array.isArray(list) && list.length >= 1 && list.length <= BULK_LIMIT;
  if (!isList || ![undefined, 'each', 'all'].includes(mode as string | undefined) || !areRight(options))
    return { codes: ['11'] };
  const items = list.map((item: unknown) => {
    if (typeof item !== 'object' || item === null || Array.isArray(item)) return [];
    const wrong = wrongFields(item);
    return wrong.length > 0 ? wrong : reservationOf(target, item, { holdFor: options.holdFor });
  });
  return { codes: ['00', '40', '41'], bulk: { items, isAll: mode === 'all', key: options.key } };
}

const reservationsIn = ({ items, key }: BulkVerdict): Reservation[] =>
  items.flatMap((item) =>
    'ticketId' in item ? [{ ...item, idempotency: key === undefined ? null : { key, fingerprint: '' } }] : [],
  );

/** What the headers say of a call. */
interface CallOptions {
  key?: string | undefined;
  holdFor?: string | undefined;
}

const optionsIn = (request: StrictRequest): CallOptions => ({
  key: headerOf(request, 'idempotency-key'),
  holdFor: headerOf(request, 'hold-for'),
});

const areRight = ({ key, holdFor }: CallOptions) => isKey(key) && isHold(holdFor);

const isHold = (text: string | undefined) =>
  text === undefined ||
  (String(Number(text)) === text &&
    Number(text) >= 60 &&
    Number(text) <= 604_800 &&
    Number.isInteger(Number(text)));

const isKey = (key: string | undefined) =>
  key === undefined ||
  (key.length >= 1 && key.length <= 255 && Array.from(key).every((c) => c > ' ' && c < '\u007f'));

function reservationOf(target: Target, body: object, { key, holdFor }: CallOptions): Reservation {
  const stored = normalizePerson({ ...body });
  const text = (name: string) => (valueOf(stored, name) ?? null) as string | null;
  const ticketId = valueOf(body, 'organizedEventTicketID') as number;
  const emailAddress = text('emailAddress')!;
  const partnerReference = text('partnerReference');
  const attendee = {
    fullName: text('fullName')!,
    emailAddress,
    phoneNumber: text('phoneNumber'),
    gender: text('gender'),
    tableOrSeat: text('tableOrSeat'),
    extraData1: text('extraData1'),
    extraData2: text('extraData2'),
  };
  return {
    shardId: 0,
    partnerId: target.partnerId,
    eventId: target.eventId,
    ticketId,
    passCode: 0,
    ...attendee,
    attendeeDigest: target.duplicatePolicy === 'allow' ? null : emailAddress.toLowerCase(),
    returnsExisting: target.duplicatePolicy === 'return_existing',
    holdSeconds: holdFor === undefined ? null : Number(holdFor),
    holdId: null,
    partnerReference,
    idempotency:
      key === undefined
        ? null
        : { key, fingerprint: JSON.stringify([ticketId, attendee, holdFor, partnerReference]) },
  };
}

/** Whether what nobody has seen the answer of may have been remembered under the same key. */
function isKeyInDoubt({ unanswered }: Target, { idempotency }: Reservation): boolean {
  return idempotency !== null && unanswered.some((other) => other.idempotency?.key === idempotency.key);
}

/** `isOnly`: nothing else was under way, so the outcome is certain. */
function judgeOutcome(target: Target, reservation: Reservation, answer: Answer, isOnly: boolean): void {
  const expected = target.model.expect(reservation);
  const replayed = answer.headers.get('idempotent-replayed') === 'true';
  const outcome = outcomeOf(target, answer, replayed, expected);
  if (outcome) target.model.record(reservation, outcome, '', 0);
  if (!isOnly || isKeyInDoubt(target, reservation)) return;
  const isSeat = expected.kind === 'registered' || expected.kind === 'existing';
  const code = isSeat ? '00' : REFUSALS[expected.kind];
  if (answer.code !== code) throw new Finding(`answered ${answer.code}, the model expects ${code}`);
  if (expected.kind === 'existing' && outcome?.kind !== 'existing')
    throw new Finding('another seat for the same attendee');
  const isReplay = 'replayed' in expected && expected.replayed;
  if (replayed !== isReplay) throw new Finding(`replayed: ${replayed}, the model expects ${isReplay}`);
  const first = expected.kind === 'registered' && expected.replayed ? expected.serial : undefined;
  if (outcome?.kind === 'registered' && outcome.replayed && outcome.serial !== first)
    throw new Finding(`replays serial ${outcome.serial}, the first answer had ${first}`);
}

function outcomeOf(
  target: Target,
  answer: Answer,
  replayed: boolean,
  expected?: ReturnType<Target['model']['expect']>,
): SeatOutcome | null {
  if (answer.code !== '00') {
    const kind = Object.entries(REFUSALS).find(([, code]) => code === answer.code)?.[0];
    return kind ? ({ kind, replayed } as SeatOutcome) : null;
  }
  const parts = parsePassReference(String(answer.data));
  if (parts?.eventId !== target.eventId || parts.prefix !== target.passPrefix)
    throw new Finding(`no pass reference of this event: ${String(answer.data)}`);
  const { serial, passCode } = parts;
  // The seat that its attendee has already, and no other.
  const isExisting =
    expected?.kind === 'existing' && expected.serial === serial && expected.passCode === passCode;
  return isExisting ? expected : { kind: 'registered', serial, passCode, replayed };
}

let keyless = 0;

/** Each registration of a bulk call has an envelope of its own, in its place. */
function judgeBulk(target: Target, bulk: BulkVerdict, answer: Answer, isOnly: boolean): void {
  const reservations = reservationsIn(bulk).map((one) => ({ ...one, idempotency: null }));
  const fingerprint = JSON.stringify([bulk.isAll, reservations]);
  const order = {
    reservations,
    isAll: bulk.isAll,
    idempotency: { key: bulk.key ?? `none ${keyless++}`, fingerprint },
  };
  const hasWrong = reservations.length < bulk.items.length;
  // Nothing of such a call is asked of anybody.
  const isSettled = reservations.length === 0 || (bulk.isAll && hasWrong);
  const isInDoubt = reservationsIn(bulk).some((one) => isKeyInDoubt(target, one));
  const expected = isSettled ? null : target.model.expectSubmission(order);
  if (answer.code === '40') {
    if (isOnly && !isInDoubt && expected?.kind !== 'key-reused')
      throw new Finding('answered 40, the model expects another');
    return;
  }
  const answers = envelopesIn(answer, bulk.items.length);
  const replayed = answer.headers.get('idempotent-replayed') === 'true';
  const valid = answers.filter((one, index) => {
    const item = bulk.items[index]!;
    if ('ticketId' in item) return true;
    if (one.code !== '11') throw new Finding(`item ${index} was answered ${one.code}, expected 11`);
    compareNames(one, item);
    return false;
  });
  const outcomes = valid.map((one): SeatOutcome => {
    const outcome = outcomeOf(target, one, replayed);
    if (!outcome) throw new Finding(`an item was answered ${one.code}`);
    return outcome;
  });
  if (!isSettled) target.model.recordSubmission(order, { kind: 'bulk', outcomes, replayed }, '', 0);
  if (!isOnly || isInDoubt) return;
  const wanted = expectedKinds(expected, reservations);
  const given = outcomes.map(({ kind }) => kind);
  if (given.join() !== wanted.join())
    throw new Finding(`answered ${given.join()}, the model expects ${wanted.join()}`);
  if (replayed !== (expected?.kind === 'bulk' && expected.replayed))
    throw new Finding(`replayed: ${replayed}, the model expects otherwise`);
}

function expectedKinds(
  expected: ReturnType<Target['model']['expectSubmission']> | null,
  reservations: BulkReservation['reservations'],
): string[] {
  if (expected === null) return reservations.map(() => 'group-refused');
  return expected.kind === 'bulk' ? expected.outcomes.map(({ kind }) => kind) : [expected.kind];
}

/** The envelopes of a bulk call, as answers of their own. */
function envelopesIn(answer: Answer, count: number): Answer[] {
  const { data } = answer;
  if (!Array.isArray(data) || data.length !== count) throw new Finding(`no list of ${count}: ${answer.text}`);
  return data.map((one: Record<string, unknown>): Answer => {
    const { responseCode, responseMessage, responseData, ...more } = one;
    const isKnown = Object.hasOwn(RESPONSE_CODES, String(responseCode));
    if (!isKnown || typeof responseMessage !== 'string' || Object.keys(more).length > 0)
      throw new Finding(`no envelope: ${JSON.stringify(one)}`);
    return { ...answer, code: responseCode as Code, message: responseMessage, data: responseData };
  });
}
