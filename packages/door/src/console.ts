import { Id } from '@floodgate/audit';
import { findEvent } from '@floodgate/events';
import { operationsOn } from '@floodgate/operators';
import * as actions from './actions.ts';
import { listDevices } from './devices.ts';
import { countAdmissions, listGates } from './gates.ts';
import { readDoorReport } from './report.ts';

export type { DoorReport } from './report.ts';

const { performs, reads } = operationsOn('door');

export const doorOperations = [
  reads(
    'GET /events/{eventId}/gates',
    'List the gates of an event, with the number of people',
    'gateList',
    { eventId: Id },
    async (db, { eventId }) => {
      const { shardId } = await findEvent(db, eventId);
      const counts = await countAdmissions(db, shardId, eventId);
      return (await listGates(db, shardId, eventId)).map((gate) => ({ ...gate, ...counts.get(gate.id) }));
    },
  ),
  reads(
    'GET /events/{eventId}/devices',
    'List the devices that scan at an event',
    'deviceList',
    { eventId: Id },
    async (db, { eventId }) => listDevices(db, (await findEvent(db, eventId)).shardId, eventId),
  ),
  reads(
    'GET /events/{eventId}/door-report',
    'Show admissions, conflicts, refused and missing scans of an event, and whether they are complete',
    'doorReport',
    { eventId: Id },
    (db, { eventId }) => readDoorReport(db, eventId),
  ),
  performs('POST /events/{eventId}/gates', 'Add a gate to an event', actions.createGateAction),
  performs(
    'PATCH /events/{eventId}/gates/{gateId}',
    'Change the given settings of a gate',
    actions.updateGateAction,
  ),
  performs(
    'POST /events/{eventId}/devices',
    'Add a device, with a code that enrols it',
    actions.createDeviceAction,
  ),
  performs(
    'POST /events/{eventId}/devices/{deviceId}/code',
    'Create another code for a device that is not enrolled',
    actions.renewDeviceCodeAction,
  ),
  performs(
    'POST /events/{eventId}/devices/{deviceId}/revoke',
    'Revoke a device, which erases its data; say whether it is lost',
    actions.revokeDeviceAction,
  ),
];
