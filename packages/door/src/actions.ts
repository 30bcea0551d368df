import { Type } from '@sinclair/typebox';
import { defineAction, Flag, Id, instantOrNull, Name, oneOf, text } from '@floodgate/audit';
import { typedAs } from '@floodgate/audit/input';
import { inCamelCase } from '@floodgate/database';
import { findEvent, keepInShard } from '@floodgate/events';
import { Failure, NotFound } from '@floodgate/service/failure';
import { sql } from 'kysely';
import * as devices from './devices.ts';
import * as gates from './gates.ts';

const IDS = 'ids, separated by commas';
const Ids = Type.Array(Id, { minItems: 1, maxItems: 1_000, uniqueItems: true, description: IDS });
/** `once`: a pass is admitted once in the area. `re-entry`: again after an exit. `any`: always. */
const EntryRule = oneOf(['once', 're-entry', 'any']);
const DEFAULTS = { area: 'main', entryRule: 'once', tickets: null, opensAt: null, closesAt: null } as const;

const optional = {
  tickets: Type.Optional(Type.Union([Ids, Type.Null()], { description: `${IDS}, or none for all` })),
  opensAt: typedAs('--opens', Type.Optional(instantOrNull('a time, or none'))),
  closesAt: typedAs('--closes', Type.Optional(instantOrNull('a time, or none'))),
  showsNames: Type.Optional(Flag),
};

const checkOrder = ({ opensAt, closesAt }: Partial<gates.Gate>): Record<string, string> =>
  opensAt && closesAt && opensAt >= closesAt ? { opensAt: 'the gate must open before it closes' } : {};

export const createGateAction = defineAction({
  name: 'gate.create',
  input: Type.Object({
    eventId: Id,
    name: Name,
    area: Type.Optional(text(1, 64)),
    entryRule: Type.Optional(EntryRule),
    ...optional,
  }),
  check: checkOrder,
  run: async (db, { eventId, ...given }, note) => {
    const values = { ...DEFAULTS, showsNames: false, ...given };
    await keepInShard(db, eventId);
    await gates.lockAreas(db, eventId);
    const event = await findEvent(db, eventId);
    const other = (await gates.listGates(db, event)).find(({ area }) => area === values.area);
    if (other && other.entryRule !== values.entryRule)
      throw new Failure(`gate ${other.id} of the same area has the entry rule "${other.entryRule}"`);
    await gates.assertTickets(db, event, values.tickets);
    const inserted = inCamelCase(db)
      .insertInto('gates')
      .values({ ...values, shardId: event.shardId, eventId });
    const gate = await inserted.returning(gates.COLUMNS).executeTakeFirstOrThrow();
    note(`gate:${gate.id}`, { after: { eventId, ...gate } });
    return gate;
  },
});

/** Changes the given settings of a gate. Its area and its entry rule stay, because admissions were decided by them. */
export const updateGateAction = defineAction({
  name: 'gate.update',
  input: Type.Object({ eventId: Id, gateId: Id, name: Type.Optional(Name), ...optional }),
  check: ({ eventId: _event, gateId: _gate, ...given }) => {
    if (Object.keys(given).length === 0) return { gateId: 'nothing to change; give at least one setting' };
    return checkOrder(given);
  },
  run: async (db, { eventId, gateId, ...given }, note) => {
    const event = await findEvent(db, eventId);
    const before = (await gates.listGates(db, event)).find(({ id }) => id === gateId);
    if (!before) throw new NotFound('no such gate');
    await gates.assertTickets(db, event, given.tickets ?? null);
    const updated = inCamelCase(db)
      .updateTable('gates')
      .set(given)
      .where(({ and }) => and({ shardId: event.shardId, id: gateId }));
    const after = await updated.returning(gates.COLUMNS).executeTakeFirstOrThrow();
    note(`gate:${gateId}`, { before, after });
    return after;
  },
});

const stateOf = ({ name, gates: ids, revokedAt, lost }: devices.Device) => ({
  name,
  gates: ids,
  revokedAt,
  lost,
});

/** Adds a device, and returns it with the code that enrols it. */
export const createDeviceAction = defineAction({
  name: 'device.create',
  input: Type.Object({ eventId: Id, name: Name, gates: Ids }),
  run: async (db, { eventId, ...given }, note) => {
    await keepInShard(db, eventId);
    const event = await findEvent(db, eventId);
    const { shardId } = event;
    await gates.assertGates(db, event, given.gates);
    const { rows } = await sql<{ id: number }>`select nextval('door_ids')::integer as id`.execute(db);
    const { id } = rows[0]!;
    const { code, ...stored } = devices.createCode(shardId, id);
    const inserted = inCamelCase(db)
      .insertInto('devices')
      .values({ shardId, id, eventId, ...given, ...stored });
    const device = await inserted.returning(devices.COLUMNS).executeTakeFirstOrThrow();
    note(`device:${id}`, { after: { eventId, ...stateOf(device) } });
    return { ...device, code };
  },
});

/** Returns a device with a new code. Throws Failure if the device has used its code, or is revoked. */
export const renewDeviceCodeAction = defineAction({
  name: 'device.code',
  input: Type.Object({ eventId: Id, deviceId: Id }),
  run: async (db, { eventId, deviceId }, note) => {
    const { shardId } = await devices.findDevice(db, eventId, deviceId);
    const { code, ...stored } = devices.createCode(shardId, deviceId);
    const renewed = devices
      .updateDevice(db, shardId, deviceId)
      .set(stored)
      .where(({ and }) => and({ publicKey: null, revokedAt: null }));
    const device = await renewed.returning(devices.COLUMNS).executeTakeFirst();
    if (!device) throw new Failure('the device was enrolled or revoked; create another device');
    note(`device:${deviceId}`, { after: { codeExpiresAt: device.codeExpiresAt } });
    return { ...device, code };
  },
});

/**
 * Revokes a device, which then erases its data. A lost one never sends its last scans, and the report says
 * so. Safe to repeat.
 */
export const revokeDeviceAction = defineAction({
  name: 'device.revoke',
  input: Type.Object({ eventId: Id, deviceId: Id, lost: Type.Optional(Flag) }),
  run: async (db, { eventId, deviceId, lost = false }, note) => {
    const { shardId, device: before } = await devices.findDevice(db, eventId, deviceId);
    const revoked = devices
      .updateDevice(db, shardId, deviceId)
      .set({ revokedAt: before.revokedAt ?? sql`now()`, lost: lost || before.lost, codeHash: null });
    const after = await revoked.returning(devices.COLUMNS).executeTakeFirstOrThrow();
    note(`device:${deviceId}`, { before: stateOf(before), after: stateOf(after) });
    return after;
  },
});
