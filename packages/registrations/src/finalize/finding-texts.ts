import { awayText } from '@floodgate/database/reads/shards';
import type { FindingTexts } from '@floodgate/operators/findings';

export const secondsText = (ms: number | null) => (ms === null ? null : `${(ms / 1_000).toFixed(1)} s`);

/** The words of the command line about each finding. */
export const FINDING_TEXTS: FindingTexts = {
  postgresDown: () => 'Postgres does not answer',
  serviceMissing: ({ service, silentMs }) =>
    `no ${service} process reports` +
    (silentMs === null ? '' : `, the last one ${secondsText(silentMs)} ago`),
  processLost: ({ service, host, silentMs }) =>
    `a process (${service} on ${host}) has not reported for ${secondsText(silentMs)}`,
  queueDown: () => 'the queue is down',
  queueUnsafe: () => 'the queue could lose jobs',
  queueWithoutWorker: () => 'no worker is connected to the queue',
  batchesFailed: ({ batches }) => `${batches} failed batches, see floodgate queue failed`,
  backlogOld: ({ ageMs }) => `the oldest pending batch or change is ${secondsText(ageMs)} old`,
  deliveriesOld: ({ kind, ageMs }) => `the oldest undelivered entry for ${kind} is ${secondsText(ageMs)} old`,
  deliveriesFailing: ({ kind, failing, consumers }) =>
    `${failing} of ${consumers} consumers of the kind ${kind} fail, see floodgate queue failing`,
  retriesOld: ({ kind, ageMs }) =>
    `the oldest failed delivery for ${kind} has failed for ${secondsText(ageMs)}`,
  shardsAway: ({ shards }) => awayText(shards),
  figuresUnknown: () => 'the backlog cannot be read',
  devicesSilent: ({ devices }) =>
    `no contact for 5 minutes with ${devices === 1 ? '1 device' : `${devices} devices`} of open gates, ` +
    'see floodgate device list',
  scansWaiting: () => 'a device has reported scans that were not received, see floodgate door report',
  doorConflicts: ({ conflicts }) =>
    `${conflicts === 1 ? '1 conflict' : `${conflicts} conflicts`} at doors within 15 minutes, ` +
    'see floodgate door report',
};
