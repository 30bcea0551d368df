import type { TSchema } from '@sinclair/typebox';
import type { PageRequest } from '../add-page.ts';
import { knownPartners } from '../pages/names.ts';
import type { Texts } from '../view/html.ts';
import { HOUR_MS } from './times.ts';

/** Something that can be chosen in place of an id that would have to be typed. */
export interface Choice {
  value: string;
  name: string;
}

/**
 * Resolves to what can be chosen. Undefined: nothing yet, because an event must be chosen first, or ever, because
 * the operator may not see what there is. `typed`: the same, but it can be typed.
 */
type Choose = (page: PageRequest, given: Texts) => Promise<readonly Choice[] | 'typed' | undefined>;

const choice = (value: string | number, name: string): Choice => ({ value: String(value), name });

/** Resolves to the events that an operator may see, the newest first. */
export const eventChoices = async ({ read, operations }: PageRequest, archived = false) =>
  ((await read(operations.eventList, { archived })) ?? [])
    .map(({ id, name }) => choice(id, name))
    .toReversed();

const events =
  (archived = false): Choose =>
  (page) =>
    eventChoices(page, archived);

/** Resolves to the event of what is given. */
async function eventIdOf({ read, operations }: PageRequest, { eventId, ticketId }: Texts) {
  if (eventId || !ticketId) return eventId;
  return String((await read(operations.ticketShow, { ticketId }))?.eventId ?? '');
}

/** Returns choices of which those with the same name have their id, too. */
function distinct(choices: readonly Choice[]) {
  const names = choices.map(({ name }) => name);
  const isTwice = (name: string) => names.indexOf(name) !== names.lastIndexOf(name);
  return choices.map(({ value, name }) => choice(value, isTwice(name) ? `${name} (${value})` : name));
}

/** Returns choices among things of an event. */
const ofEvent =
  (choose: (page: PageRequest, eventId: string) => Promise<Choice[] | undefined>) =>
  async (page: PageRequest, given: Texts): Promise<Choice[] | undefined> => {
    const eventId = await eventIdOf(page, given);
    return eventId ? distinct((await choose(page, eventId)) ?? []) : undefined;
  };

const tickets = ofEvent(async ({ read, operations }, eventId) =>
  (await read(operations.ticketList, { eventId }))?.map(({ id, title }) => choice(id, title)),
);

const gates = ofEvent(async ({ read, operations }, eventId) =>
  (await read(operations.gateList, { eventId }))?.map(({ id, name }) => choice(id, name)),
);

const devices = ofEvent(async ({ read, operations }, eventId) =>
  (await read(operations.deviceList, { eventId }))
    ?.filter(({ revokedAt }) => revokedAt === null)
    .map(({ id, name }) => choice(id, name)),
);

const partners: Choose = async (page) => (await knownPartners(page)).map(({ id, name }) => choice(id, name));

const sellers = ofEvent(async ({ read, operations }, eventId) =>
  (await read(operations.eventPartners, { eventId }))?.map(({ partnerId, partner }) =>
    choice(partnerId, partner),
  ),
);

/** Resolves to the partners that may not sell the event yet. Without an event: to all. */
const otherPartners: Choose = async (page, given) => {
  const selling = new Set(((await sellers(page, given)) ?? []).map(({ value }) => value));
  return (await knownPartners(page))
    .filter(({ id, isHouse }) => !isHouse && !selling.has(String(id)))
    .map(({ id, name }) => choice(id, name));
};

/** Resolves to the partners that sell the event, and that of the operator itself. */
const allocated: Choose = async (page, given) => {
  const selling = await sellers(page, given);
  const houses = (await knownPartners(page))
    .filter(({ isHouse }) => isHouse)
    .map(({ id, name }) => choice(id, name));
  return selling && [...selling, ...houses];
};

const webhooks = ofEvent(async ({ read, operations }, eventId) =>
  (await read(operations.webhookList, { eventId }))?.map(({ id, url }) => choice(id, url)),
);

const keys: Choose = async ({ read, operations, format, words }, { partnerId }) => {
  const list = (await read(operations.keyList, { partnerId: partnerId || undefined })) ?? [];
  const named = new Map(((await read(operations.partnerList, {})) ?? []).map(({ id, name }) => [id, name]));
  return list
    .filter(({ state }) => state === 'open')
    .map((key) => {
      const facts = [
        named.get(key.partnerId),
        words.values[key.mode],
        format.day(key.createdAt),
        `${key.keyId.slice(0, 4)}…`,
      ];
      return choice(key.keyId, facts.filter(Boolean).join(' · '));
    });
};

const passKeys: Choose = async ({ read, operations, format }) =>
  ((await read(operations.passKeyList, {})) ?? [])
    .filter(({ retiredAt, withdrawnAt }) => retiredAt !== null && withdrawnAt === null)
    .map(({ id, retiredAt }) => choice(id, `${id} · ${format.timeText(retiredAt!)}`));

const jobs: Choose = async ({ read, operations, format, words }) =>
  ((await read(operations.jobList, {}))?.jobs ?? [])
    .filter(({ endedAt }) => endedAt === null)
    .map(({ id, kind, createdAt }) =>
      choice(id, `${words.values[`job.${kind}`] ?? kind} · ${format.timeText(createdAt)}`),
    );

const accesses: Choose = async ({ read, operations, format }) =>
  ((await read(operations.accessList, {})) ?? []).map(({ id, name, createdAt }) =>
    choice(id, `${name} · ${format.timeText(createdAt)}`),
  );

const shards: Choose = async ({ read, operations }) =>
  (await read(operations.shardList, {}))?.map(({ id, events: count }) => choice(id, `${id} (${count})`)) ??
  'typed';

const operators: Choose = async ({ read, operations }) =>
  (await read(operations.operatorList, {}))?.map(({ name }) => choice(name, name)) ?? 'typed';

/** Resolves to the operators with a role for the event. */
const operatorsOf = ofEvent(async ({ read, operations }, eventId) =>
  (await read(operations.eventOperators, { eventId }))?.map(({ name }) => choice(name, name)),
);

/** Resolves to failed batches. Undefined: the operator may not see them. */
const failed = async ({ read, operations }: PageRequest, { eventId }: Texts) =>
  (await read(operations.batchFailed, { eventId: eventId || undefined }))?.failed;

const batches: Choose = async (page, given) =>
  (await failed(page, given))?.map(({ batchId, registrations, reason, failedAt }) =>
    choice(batchId, [page.format.timeText(failedAt), registrations, reason].filter(Boolean).join(' · ')),
  );

const reasons: Choose = async (page, given) => {
  const all = (await failed(page, given))?.flatMap(({ reason }) => reason ?? []);
  return all && [...new Set(all)].map((reason) => choice(reason, reason));
};

const OVERLAPS_MS = [0, HOUR_MS, 24 * HOUR_MS, 7 * 24 * HOUR_MS, 30 * 24 * HOUR_MS];

const overlaps: Choose = ({ format, words }) =>
  Promise.resolve(OVERLAPS_MS.map((ms) => choice(ms, ms === 0 ? words.forms.atOnce : format.duration(ms))));

/** A filter has a third choice, none of the two, so it has no box. */
const yesOrNo: Choose = ({ words }) =>
  Promise.resolve([choice('true', words.shell.yes), choice('false', words.shell.no)]);

/**
 * The choices of a field, by its name, or by that of its operation and its own. A field without
 * choices is typed.
 */
const CHOICES: Partial<Record<string, Choose>> = {
  eventId: events(),
  'eventRestore.eventId': events(true),
  'tokenCreate.eventIds': events(),
  ticketId: tickets,
  tickets,
  partnerId: partners,
  'eventGrant.partnerId': otherPartners,
  'eventRevoke.partnerId': sellers,
  'webhookCreate.partnerId': sellers,
  'ticketAllocate.partnerId': allocated,
  webhookId: webhooks,
  keyId: keys,
  'passWithdraw.keyId': passKeys,
  gateId: gates,
  gates,
  deviceId: devices,
  jobId: jobs,
  accessId: accesses,
  shardId: shards,
  batchIds: batches,
  reason: reasons,
  failure: reasons,
  overlapMs: overlaps,
  admitted: yesOrNo,
  'operatorUpdate.name': operators,
  'operatorResetPassword.name': operators,
  'operatorSignOut.name': operators,
  'operatorGrant.name': operators,
  'operatorRevoke.name': operatorsOf,
};

/** Returns what finds the choices of a field of an operation. Undefined: it is typed. */
export const choicesOf = (operationId: string, name: string) =>
  CHOICES[`${operationId}.${name}`] ?? CHOICES[name];

/** Returns the words that a field, or each of a list, can have. Undefined: any text. */
export function wordsOfSchema(schema: TSchema): string[] | undefined {
  const items = schema['items'] as TSchema | undefined;
  if (items) return wordsOfSchema(items);
  const words = ((schema['enum'] as unknown[] | undefined) ?? constants(schema)).filter(
    (word) => word !== undefined,
  );
  const isWords = words.length > 0 && words.every((word) => typeof word === 'string');
  return isWords ? words : undefined;
}

function constants(schema: TSchema): unknown[] {
  const parts = (schema['anyOf'] as TSchema[] | undefined) ?? [schema];
  const words = parts.map((one): unknown => (one['type'] === 'null' ? 'none' : one['const']));
  return words.includes(undefined) ? [] : words;
}

/** The proposals for a field that is typed, by its name. Any other value can be typed as well. */
export const PROPOSALS: Partial<Record<string, () => readonly string[]>> = {
  timeZone: () => Intl.supportedValuesOf('timeZone'),
  currency: () => Intl.supportedValuesOf('currency'),
};
