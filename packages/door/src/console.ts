import { Type } from '@sinclair/typebox';
import { Id, text } from '@floodgate/audit';
import type { Database } from '@floodgate/database';
import { findEvent, type Event } from '@floodgate/events';
import { operationsOn } from '@floodgate/operators';
import * as actions from './actions.ts';
import { readDoorCounts } from './counts.ts';
import { describeDevices } from './described-devices.ts';
import { countGates } from './gates.ts';
import { readDoorReport } from './report.ts';
import { readDoorStory } from './story.ts';

export type { CountedTicket, DoorCounts } from './counts.ts';
export type { DescribedDevice } from './described-devices.ts';
export type { Device } from './devices.ts';
export type { CountedGate } from './gates.ts';
export type { CancelledSeat, LetIn } from './people.ts';
export type { Conflict, DoorReport } from './report.ts';
export type { DoorStory, DoorStoryEntry } from './story.ts';
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
  deviceList: readsEvent(
    'devices',
    'List the devices that scan at an event, with their state and the scans that are missing',
    'deviceList',
    describeDevices,
  ),
  doorCounts: readsEvent(
    'door-counts',
    'Count the people let in and inside, by gate and by ticket, and name the devices that are silent',
    'doorCounts',
    readDoorCounts,
  ),
  doorReport: queryOperation(
    'GET /events/{eventId}/door-report',
    'Show admissions, conflicts, refused and missing scans of an event, and whether they are complete; with ' +
      'names for callers who may see attendees',
    'doorReport',
    Type.Object({ eventId: Id }),
    async (db, { eventId }, caller) =>
      readDoorReport(db, await findEvent(db, eventId), caller.may('attendees:read')),
  ),
  doorStory: queryOperation(
    'GET /registrations/{passReference}/door',
    'Show when and where the person on a seat was let in, left or was refused, with every pass of the seat',
    'doorStory',
    Type.Object({ passReference: text(1, 255) }),
    (db, { passReference }, caller) => readDoorStory(db, passReference, caller.may('attendees:read')),
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
