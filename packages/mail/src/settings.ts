import { FormatRegistry, Type } from '@sinclair/typebox';
import { optionalText, whole } from '@floodgate/service';
import { parseSender } from './letter.ts';

FormatRegistry.Set('smtp-url', (text) => /^smtps?:\/\/[^\s/]/.test(text) && URL.canParse(text));
FormatRegistry.Set('mail-from', (text) => !/[\r\n]/.test(text) && parseSender(text) !== null);

/** The settings of the delivery process for e-mails. */
export const mailSettings = {
  SMTP_URL: optionalText(
    'SMTP server, smtp://user:password@host:port or smtps://…; without one, no e-mails are sent',
    { format: 'smtp-url' },
  ),
  SMTP_CONNECTIONS: whole('connections to the SMTP server', [1, 100], 10),
  MAIL_FROM: Type.String({
    format: 'mail-from',
    default: 'Floodgate <floodgate@localhost>',
    description: 'sender of e-mails, an address or Name <address>',
  }),
  MAIL_PER_SECOND: Type.Optional(
    whole('e-mails per second of all delivery processes together; no limit by default', [1, 100_000]),
  ),
  MAILCATCHER_SIZE: whole(
    'e-mails that are kept in memory and shown at /mailcatcher if there is no SMTP_URL',
    [0, 10_000],
    0,
  ),
  DELIVERY_RETENTION_DAYS: whole(
    'days that outcomes of e-mails are kept; at least as long as the journal keeps the registration',
    [1, 36_500],
    365,
  ),
};

/** The settings of an e-mail that a person sends to test them. */
export const testMailSettings = { SMTP_URL: mailSettings.SMTP_URL, MAIL_FROM: mailSettings.MAIL_FROM };
export type TestMailSettings = { [Name in keyof typeof testMailSettings]?: string | undefined };
