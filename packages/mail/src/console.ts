import { Type, type Static, type TObject } from '@sinclair/typebox';
import { Id, text } from '@floodgate/audit';
import { operationsOn } from '@floodgate/operators';
import * as actions from './actions.ts';
import { readMailStatus } from './status.ts';
import { listSuppressions } from './suppressions.ts';
import { testMailSettings } from './settings.ts';

export { testMailSettings };

const { performs, reads } = operationsOn('mail');
const Test = Type.Object({ to: text(3, 254) });

/** Without settings, an operation that sends an e-mail fails. */
export const mailOperations = (settings: Partial<Static<TObject<typeof testMailSettings>>> = {}) => [
  reads(
    'GET /mail',
    'Show the progress of e-mails',
    'mailStatus',
    Type.Object({ eventId: Type.Optional(Id) }),
    ({ db }, { eventId }) => readMailStatus(db, eventId),
  ),
  performs('POST /events/{eventId}/mail/enable', 'Send e-mails to attendees', actions.enableMailAction),
  performs('POST /events/{eventId}/mail/disable', 'Stop sending e-mails', actions.disableMailAction),
  performs('POST /events/{eventId}/mail/pause', 'Stop sending until resume', actions.pauseMailAction),
  performs('POST /events/{eventId}/mail/resume', 'Send again after a pause', actions.resumeMailAction),
  performs(
    'POST /registrations/{passReference}/resend',
    'Send the pass of a registration again',
    actions.resendMailAction,
  ),
  performs(
    'POST /events/{eventId}/mail/resend',
    'Send all passes of an event again',
    actions.resendAllMailAction,
  ),
  {
    // It changes nothing that is stored, so it is no action.
    ...reads('POST /mail/test', 'Send a test e-mail', 'mailTest', Test, async (_context, { to }) => {
      // Composing needs memory that the console does not need otherwise.
      const { sendTestMail } = await import('./test-mail.ts');
      return sendTestMail(settings, to);
    }),
    scope: 'mail:write' as const,
  },
  reads(
    'GET /mail/suppressions',
    'List digests of addresses that get no e-mails',
    'suppressionList',
    Type.Object({}),
    ({ db }) => listSuppressions(db),
  ),
  performs(
    'POST /mail/suppressions/remove',
    'Send e-mails to an address again',
    actions.liftSuppressionAction,
  ),
];
