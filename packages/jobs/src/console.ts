import { assertValid, Cursor, Id, Limit as limit } from '@floodgate/audit';
import { typedAs } from '@floodgate/audit/input';
import type { Database } from '@floodgate/database';
import { defineChange, operationsOn, type Caller } from '@floodgate/operators';
import { assertFilter, RegistrationFilter } from '@floodgate/registrations/filter';
import { Type } from '@sinclair/typebox';
import * as actions from './actions.ts';
import { findJob, listFailures, listJobs } from './jobs.ts';
import { callOff, callOffAction, previewCallOff } from './kinds/call-off.ts';
import { previewCancel, startCancel } from './kinds/cancel.ts';
import { StartFields, type Preview, type Start } from './kinds/previewed.ts';
import { previewResend, startResend } from './kinds/resend.ts';
import type { StartedJob } from './jobs.ts';

const queue = operationsOn('queue');

const StartInput = Type.Object({ ...RegistrationFilter.properties, ...StartFields });
const CallOffInput = Type.Object({ eventId: typedAs('--event', Id), ...StartFields });

type PreviewFilter<Result> = (
  db: Database,
  filter: RegistrationFilter,
  maySeeAttendees: boolean,
) => Promise<Result>;
type StartFiltered = (
  db: Database,
  filter: RegistrationFilter,
  start: Start,
  actor: string,
) => Promise<StartedJob>;

/** Returns an operation that shows what a job would do. A POST: addresses of pages must not contain names. */
const previewOperation = <Result extends Preview>(
  name: 'cancel' | 'resend',
  summary: string,
  preview: PreviewFilter<Result>,
) =>
  operationsOn(name === 'cancel' ? 'registrations' : 'mail').queryOperation(
    `POST /jobs/${name}/preview`,
    summary,
    name === 'cancel' ? 'jobCancelPreview' : 'jobResendPreview',
    RegistrationFilter,
    async (db, filter, caller) => {
      const maySeeAttendees = caller.may('attendees:read');
      assertFilter(filter, maySeeAttendees);
      return preview(db, filter, maySeeAttendees);
    },
  );

/** Returns an operation that starts a job on what was previewed. */
const startOperation = (name: 'cancel' | 'resend', summary: string, start: StartFiltered) =>
  defineChange(
    {
      method: 'POST',
      path: `/jobs/${name}`,
      id: name === 'cancel' ? 'jobCancel' : 'jobResend',
      scope: name === 'cancel' ? 'registrations:write' : 'mail:write',
      summary,
      action: 'job.start',
      input: StartInput,
    },
    async (db: Database, given: object, caller: Caller) => {
      assertValid({ input: StartInput }, given, caller.name);
      const { expect, upTo, jobId, ...filter } = given;
      assertFilter(filter, caller.may('attendees:read'));
      return start(
        db,
        filter,
        { expect, ...(upTo !== undefined && { upTo }), ...(jobId && { jobId }) },
        caller.name,
      );
    },
  );

const ofJobs = {
  jobList: queue.listOperation(
    'GET /jobs',
    'List jobs, newest first',
    'jobList',
    Type.Object({ eventId: typedAs('--event', Type.Optional(Id)), limit }),
    (db, { eventId, limit: most = 100 }, { events }) =>
      listJobs(db, eventId === undefined ? events : [eventId], most),
  ),
  jobShow: queue.queryOperation(
    'GET /jobs/{jobId}',
    'Show a job and its progress',
    'jobShow',
    Type.Object({ jobId: actions.JobId }),
    (db, { jobId }) => findJob(db, jobId),
  ),
  jobFailures: queue.queryOperation(
    'GET /jobs/{jobId}/failures',
    'List what a job could not do, each with the reason',
    'jobFailures',
    Type.Object({ jobId: actions.JobId, after: Cursor, limit }),
    async (db, { jobId, after = 0, limit: most = 100 }) =>
      listFailures(db, await findJob(db, jobId), after, most),
  ),
  jobPause: queue.actionOperation(
    'POST /jobs/{jobId}/pause',
    'Pause a job after its batch',
    actions.pauseJobAction,
  ),
  jobResume: queue.actionOperation(
    'POST /jobs/{jobId}/resume',
    'Continue a paused job',
    actions.resumeJobAction,
  ),
  jobAbort: queue.actionOperation(
    'POST /jobs/{jobId}/abort',
    'End a job after its batch; what it has done stays done',
    actions.abortJobAction,
  ),
};

export { JobId } from './actions.ts';
export { findEventOfJob, type Job } from './jobs.ts';
export type { Preview as JobPreview, PreviewedRow } from './kinds/previewed.ts';

export const jobOperations = {
  ...ofJobs,
  jobCancelPreview: previewOperation(
    'cancel',
    'Show what a cancellation of all that match would do',
    previewCancel,
  ),
  jobCancel: startOperation('cancel', 'Cancel the registrations of a preview', startCancel),
  jobResendPreview: previewOperation('resend', 'Show which passes would be sent again', previewResend),
  jobResend: startOperation('resend', 'Send the passes of a preview again', startResend),
  eventCallOffPreview: operationsOn('events').queryOperation(
    'GET /events/{eventId}/call-off',
    'Show what calling off an event would do',
    'eventCallOffPreview',
    Type.Object({ eventId: typedAs('--event', Id) }),
    (db, { eventId }) => previewCallOff(db, eventId),
  ),
  eventCallOff: defineChange(
    {
      method: 'POST',
      path: '/events/{eventId}/call-off',
      id: 'eventCallOff',
      scope: 'events:write',
      summary: 'Call off an event: stop its sale and cancel all its registrations',
      action: callOffAction.name,
      input: CallOffInput,
    },
    async (db, given, { name }) => {
      assertValid({ input: CallOffInput }, given, name);
      const { eventId, ...start } = given;
      return callOff(db, eventId, start, name);
    },
  ),
};
