import { Type } from '@sinclair/typebox';
import { Id } from '@floodgate/audit';
import type { Database } from '@floodgate/database';
import { findEvent, type Event } from '@floodgate/events';
import { operationsOn } from '@floodgate/operators';
import * as actions from './actions.ts';
import { listDevices } from './devices.ts';
import { countGates } from './gates.ts';
import { readDoorReport } from './report.ts';

export type { Device } from './devices.ts';
export type { CountedGate } from './gates.ts';
export type { DoorReport } from './report.ts';
export { findingsOfDoors } from './findings.ts';
export { watchDoors, type DoorFigures } from './watch-doors.ts';

const { actionOperation, queryOperation } = operationsOn('door');

const readsEvent = <Result>(
  path: string,
  summary: string,
  name: string,
  read: (db: Database, event: Event) => Promise<Result>,
) =>
  queryOperation(
    `GET /events/{eventId}/${path}`,
    summary,
    name,
    Type.Object({ eventId: Id }),
    async (db, { eventId }) => read(db, await findEvent(db, eventId)),
  );

export const doorOperations = {
  gateList: readsEvent(
    'gates',
    'List the gates of an event, with the number of people',
    'gateList',
    countGates,
  ),
  deviceList: readsEvent('devices', 'List the devices that scan at an event', 'deviceList', listDevices),
  doorReport: readsEvent(
    'door-report',
    'Show admissions, conflicts, refused and missing scans of an event, and whether they are complete',
    'doorReport',
    readDoorReport,
  ),
  gateCreate: actionOperation(
    'POST /events/{eventId}/gates',
    'Add a gate to an event',
    actions.createGateAction,
  ),
  gateUpdate: actionOperation(
    'PATCH /events/{eventId}/gates/{gateId}',
    'Change the given settings of a gate',
    actions.updateGateAction,
  ),
  deviceCreate: actionOperation(
    'POST /events/{eventId}/devices',
    'Add a device, with a code that enrols it',
    actions.createDeviceAction,
    { secret: 'code' },
  ),
  deviceCode: actionOperation(
    'POST /events/{eventId}/devices/{deviceId}/code',
    'Create another code for a device that is not enrolled',
    actions.renewDeviceCodeAction,
    { secret: 'code' },
  ),
  deviceRevoke: actionOperation(
    'POST /events/{eventId}/devices/{deviceId}/revoke',
    'Revoke a device, which erases its data; say whether it is lost',
    actions.revokeDeviceAction,
  ),
};
