import { Type } from '@sinclair/typebox';
import { Id, text } from '@floodgate/audit';
import { performs, reads } from '@floodgate/operators';
import {
  disableMailAction,
  enableMailAction,
  liftSuppressionAction,
  pauseMailAction,
  resendAllMailAction,
  resendMailAction,
  resumeMailAction,
} from './actions.ts';
import { readMailStatus } from './status.ts';
import { listSuppressions } from './suppressions.ts';
import { sendTestMail, testMailSettings, type TestMailSettings } from './test-mail.ts';

export { testMailSettings };

export const mailOperations = (settings: TestMailSettings) => [
  reads(
    ['GET /mail', 'mail:read', 'Show the progress of e-mails'],
    'mailStatus',
    Type.Object({ eventId: Type.Optional(Id) }),
    ({ db }, { eventId }) => readMailStatus(db, eventId),
  ),
  performs(
    ['POST /events/{eventId}/mail/enable', 'mail:write', 'Send e-mails to attendees'],
    enableMailAction,
  ),
  performs(['POST /events/{eventId}/mail/disable', 'mail:write', 'Stop sending e-mails'], disableMailAction),
  performs(['POST /events/{eventId}/mail/pause', 'mail:write', 'Stop sending until resume'], pauseMailAction),
  performs(
    ['POST /events/{eventId}/mail/resume', 'mail:write', 'Send again after a pause'],
    resumeMailAction,
  ),
  performs(
    ['POST /registrations/{passReference}/resend', 'mail:write', 'Send the pass of a registration again'],
    resendMailAction,
  ),
  performs(
    ['POST /events/{eventId}/mail/resend', 'mail:write', 'Send all passes of an event again'],
    resendAllMailAction,
  ),
  reads(
    ['POST /mail/test', 'mail:write', 'Send a test e-mail'],
    'mailTest',
    Type.Object({ to: text(3, 254) }),
    ({ log }, { to }) => sendTestMail(settings, to, log),
  ),
  reads(
    ['GET /mail/suppressions', 'mail:read', 'List digests of addresses that get no e-mails'],
    'suppressionList',
    Type.Object({}),
    ({ db }) => listSuppressions(db),
  ),
  performs(
    ['DELETE /mail/suppressions/{address}', 'mail:write', 'Send e-mails to an address again'],
    liftSuppressionAction,
  ),
];
