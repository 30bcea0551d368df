import { Type } from '@sinclair/typebox';
import { Flag, Id, Limit, text } from '@floodgate/audit';
import { typedAs } from '@floodgate/audit/input';
import { findEvent } from '@floodgate/events';
import { updateEventAction } from '@floodgate/events/actions';
import { defineQuery, operationsOn } from '@floodgate/operators';
import * as actions from './actions.ts';
import { countMails } from './counts.ts';
import { listFailures } from './failures.ts';
import { readMailBacklog } from './mail-backlog.ts';
import { mailsOfRegistration } from './mails-of-registration.ts';
import { listSuppressions, readMailStatus } from './status.ts';
import { readMailSummary } from './summary.ts';
import { testMailSettings, type TestMailSettings } from './settings.ts';

export { testMailSettings };
export { findMailState } from './status.ts';
export type { MailCount, MailCounts } from './counts.ts';
export type { Step as MailStep } from './failure-words.ts';
export type { MailFailure, MailFailurePage } from './failures.ts';
export { MOST_COUNTED, type MailBacklog } from './mail-backlog.ts';
export type { MailOfRegistration } from './mails-of-registration.ts';
export type { MailStatus } from './status.ts';
export type { MailSummary } from './summary.ts';

const { actionOperation, listOperation, queryOperation } = operationsOn('mail');
const Preview = Type.Object({
  eventId: Id,
  language: updateEventAction.input.properties.language,
  /** The e-mail to a partner whose webhook was disabled. */
  notice: Type.Optional(Flag),
  /** The e-mail to a contact whose entry of a waiting list has an offer. */
  offer: Type.Optional(Flag),
  /** The e-mail to an attendee whose registration was cancelled. */
  cancelled: Type.Optional(Flag),
  /** The e-mail about a new time or place. */
  updated: Type.Optional(Flag),
  from: Type.Optional(text(3, 320)),
});

/** The e-mails to the attendees of an event. */
const ofEvents = {
  mailStatus: listOperation(
    'GET /mail',
    'Show the progress of e-mails',
    'mailStatus',
    Type.Object({ eventId: Type.Optional(Id) }),
    (db, { eventId }, { events }) => readMailStatus(db, eventId, events),
  ),
  mailBacklog: listOperation(
    'GET /mail/backlog',
    'Count the e-mails of each event that wait or failed, up to 10,000 of each',
    'mailBacklog',
    Type.Object({}),
    (db, _input, { events }) => readMailBacklog(db, events),
  ),
  mailSummary: queryOperation(
    'GET /events/{eventId}/mail/summary',
    'Show whether an event sends e-mails, and how many of them were not delivered',
    'mailSummary',
    Type.Object({ eventId: Id }),
    (db, { eventId }) => readMailSummary(db, eventId),
  ),
  mailCounts: queryOperation(
    'GET /events/{eventId}/mail',
    'Show whether e-mails of an event are sent, and how many there are by kind and state',
    'mailCounts',
    Type.Object({ eventId: Id }),
    (db, { eventId }) => countMails(db, eventId),
  ),
  mailFailures: queryOperation(
    'GET /events/{eventId}/mail/failures',
    'List who did not get an e-mail, why, and what to do. With attendees:read also by name and address',
    'mailFailures',
    Type.Object({
      eventId: typedAs('--event', Id),
      after: Type.Optional(text(1, 64)),
      limit: Limit,
    }),
    (db, { limit = 100, ...page }, caller) => listFailures(db, { ...page, limit }, caller),
  ),
  mailShow: queryOperation(
    'GET /registrations/{passReference}/mails',
    'Show the e-mails about a registration',
    'mailShow',
    Type.Object({ passReference: text(1, 255) }),
    (db, { passReference }) => mailsOfRegistration(db, passReference),
  ),
  mailEnable: actionOperation(
    'POST /events/{eventId}/mail/enable',
    'Send e-mails to attendees',
    actions.enableMailAction,
  ),
  mailDisable: actionOperation(
    'POST /events/{eventId}/mail/disable',
    'Stop sending e-mails',
    actions.disableMailAction,
  ),
  mailPause: actionOperation(
    'POST /events/{eventId}/mail/pause',
    'Stop sending until resume',
    actions.pauseMailAction,
  ),
  mailResume: actionOperation(
    'POST /events/{eventId}/mail/resume',
    'Send again after a pause',
    actions.resumeMailAction,
  ),
  mailResend: actionOperation(
    'POST /registrations/{passReference}/resend',
    'Send a pass again',
    actions.resendMailAction,
  ),
  mailResendAll: actionOperation(
    'POST /events/{eventId}/mail/resend',
    'Send all passes again',
    actions.resendAllMailAction,
  ),
};

const previewAndTest = (settings: TestMailSettings) => ({
  mailPreview: queryOperation(
    'GET /events/{eventId}/mail/preview',
    'Compose the confirmation of an event with made-up data: as HTML, text and EML',
    'mailPreview',
    Preview,
    async (db, { eventId, language, ...options }) => {
      const { composePreview } = await import('./preview.ts');
      const event = await findEvent(db, eventId);
      return composePreview(
        { ...event, ...(language && { language }) },
        { from: settings.MAIL_FROM, ...options },
      );
    },
  ),
  // It changes nothing that is stored, so it is no action.
  mailTest: defineQuery(
    {
      method: 'POST',
      path: '/mail/test',
      id: 'mailTest',
      scope: 'mail:write',
      summary: 'Send a test e-mail',
      input: Type.Object({ to: text(3, 254) }),
    },
    async (_db, { to }) => {
      // Composing needs memory that the console does not need otherwise.
      const { sendTestMail } = await import('./test-mail.ts');
      return sendTestMail(settings, to);
    },
  ),
});

/** Addresses that get no e-mails. */
const suppressions = {
  suppressionList: queryOperation(
    'GET /mail/suppressions',
    'List suppressed addresses',
    'suppressionList',
    Type.Object({}),
    listSuppressions,
  ),
  mailUnsuppress: actionOperation(
    'POST /mail/suppressions/remove',
    'Send to an address again',
    actions.liftSuppressionAction,
  ),
};

/** Without settings, an operation that sends an e-mail fails. */
export const mailOperations = (settings: TestMailSettings = {}) => ({
  ...ofEvents,
  ...previewAndTest(settings),
  ...suppressions,
});
