import { Id } from '@floodgate/audit';
import type { Database } from '@floodgate/database';
import { findEvent, type Event } from '@floodgate/events';
import { operationsOn } from '@floodgate/operators';
import * as actions from './actions.ts';
import { listDevices } from './devices.ts';
import { countGates } from './gates.ts';
import { readDoorReport } from './report.ts';

export type { DoorReport } from './report.ts';

const { performs, reads } = operationsOn('door');

const readsEvent = (
  path: string,
  summary: string,
  name: string,
  run: (db: Database, event: Event) => Promise<unknown>,
) =>
  reads(`GET /events/{eventId}/${path}`, summary, name, { eventId: Id }, async (db, { eventId }) =>
    run(db, await findEvent(db, eventId)),
  );

export const doorOperations = [
  readsEvent('gates', 'List the gates of an event, with the number of people', 'gateList', countGates),
  readsEvent('devices', 'List the devices that scan at an event', 'deviceList', listDevices),
  readsEvent(
    'door-report',
    'Show admissions, conflicts, refused and missing scans of an event, and whether they are complete',
    'doorReport',
    readDoorReport,
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
