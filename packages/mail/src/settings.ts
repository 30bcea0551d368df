import { FormatRegistry, Type } from '@sinclair/typebox';
import { whole } from '@floodgate/service';
import { parseSender } from './message.ts';

FormatRegistry.Set('smtp-url', (text) => /^smtps?:\/\/[^\s/]/.test(text) && URL.canParse(text));
FormatRegistry.Set('mail-from', (text) => !/[\r\n]/.test(text) && parseSender(text) !== null);

/** The delivery process's settings for e-mails. */
export const mailSettings = {
  SMTP_URL: Type.Optional(
    Type.String({
      format: 'smtp-url',
      description: 'SMTP server, smtp://user:password@host:port or smtps://…; without it no e-mails are sent',
    }),
  ),
  SMTP_CONNECTIONS: whole('connections to the server of SMTP_URL', { minimum: 1, maximum: 100, default: 10 }),
  MAIL_FROM: Type.String({
    format: 'mail-from',
    default: 'Floodgate <floodgate@localhost>',
    description: 'sender of e-mails, an address or Name <address>',
  }),
  MAIL_PER_SECOND: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 100_000,
      description: 'e-mails a second of all delivery processes together (1 to 100000); no limit by default',
    }),
  ),
  MAILCATCHER_SIZE: whole(
    'e-mails that are kept in memory and shown at /mailcatcher if there is no SMTP_URL',
    { minimum: 0, maximum: 10_000, default: 0 },
  ),
  DELIVERY_RETENTION_DAYS: whole(
    'how long the outcomes of e-mails are kept; at least as long as the journal has the registration',
    { minimum: 1, maximum: 36_500, default: 365 },
  ),
};
