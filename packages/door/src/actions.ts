import { Type } from '@sinclair/typebox';
import { defineAction, Flag, Id, instantOrNull, Name, text } from '@floodgate/audit';
import { createDevice, renewCode, revokeDevice, type Device } from './devices.ts';
import { createGate, ENTRY_RULES, updateGate } from './gates.ts';

const IDS = 'ids, separated by commas';
const Ids = Type.Array(Id, { minItems: 1, maxItems: 1_000, uniqueItems: true, description: IDS });
const MAIN_AREA = 'main';

const optional = {
  tickets: Type.Optional(Type.Union([Ids, Type.Null()], { description: `${IDS}, or none for all` })),
  opensAt: Type.Optional(instantOrNull('a time, or none')),
  closesAt: Type.Optional(instantOrNull('a time, or none')),
  showsNames: Type.Optional(Flag),
};

const ORDER = { opensAt: 'the gate must open before it closes' };
const isUnordered = ({ opensAt, closesAt }: { opensAt?: Date | null; closesAt?: Date | null }) =>
  Boolean(opensAt && closesAt && opensAt >= closesAt);

export const createGateAction = defineAction({
  name: 'gate.create',
  input: Type.Object({
    eventId: Id,
    name: Name,
    area: Type.Optional(text(1, 64)),
    entryRule: Type.Optional(
      Type.Union(
        ENTRY_RULES.map((rule) => Type.Literal(rule)),
        { description: ENTRY_RULES.join(', ') },
      ),
    ),
    ...optional,
  }),
  check: (input): Record<string, string> => (isUnordered(input) ? ORDER : {}),
  run: async (db, { eventId, ...given }, note) => {
    const defaults = {
      area: MAIN_AREA,
      entryRule: 'once' as const,
      tickets: null,
      opensAt: null,
      closesAt: null,
    };
    const gate = await createGate(db, eventId, { ...defaults, showsNames: false, ...given });
    note(`gate:${gate.id}`, { after: { eventId, ...gate } });
    return gate;
  },
});

/** Changes the given settings of a gate. Its area and its entry rule stay, because admissions were decided by them. */
export const updateGateAction = defineAction({
  name: 'gate.update',
  input: Type.Object({ eventId: Id, gateId: Id, name: Type.Optional(Name), ...optional }),
  check: ({ eventId: _event, gateId: _gate, ...given }): Record<string, string> => {
    if (Object.keys(given).length === 0) return { gateId: 'nothing to change; give at least one setting' };
    return isUnordered(given) ? ORDER : {};
  },
  run: async (db, { eventId, gateId, ...given }, note) => {
    const { before, after } = await updateGate(db, eventId, gateId, given);
    note(`gate:${gateId}`, { before: { ...before }, after: { ...after } });
    return after;
  },
});

const stateOf = ({ name, gates, revokedAt, lost }: Device) => ({ name, gates, revokedAt, lost });

/** Adds a device, and returns the code that enrols it. */
export const createDeviceAction = defineAction({
  name: 'device.create',
  input: Type.Object({ eventId: Id, name: Name, gates: Ids }),
  run: async (db, { eventId, ...given }, note) => {
    const device = await createDevice(db, eventId, given);
    note(`device:${device.id}`, { after: { eventId, ...stateOf(device) } });
    return device;
  },
});

/** Returns a new code for a device that has not used its code. */
export const renewDeviceCodeAction = defineAction({
  name: 'device.code',
  input: Type.Object({ eventId: Id, deviceId: Id }),
  run: async (db, { eventId, deviceId }, note) => {
    const device = await renewCode(db, eventId, deviceId);
    note(`device:${deviceId}`, { after: { codeExpiresAt: device.codeExpiresAt } });
    return device;
  },
});

/** Revokes a device. A lost one never sends its last scans, and the report says so. */
export const revokeDeviceAction = defineAction({
  name: 'device.revoke',
  input: Type.Object({ eventId: Id, deviceId: Id, lost: Type.Optional(Flag) }),
  run: async (db, { eventId, deviceId, lost = false }, note) => {
    const { before, after } = await revokeDevice(db, eventId, deviceId, lost);
    note(`device:${deviceId}`, { before: stateOf(before), after: stateOf(after) });
    return after;
  },
});
