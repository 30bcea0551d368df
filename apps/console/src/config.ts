import { Type, type Static } from '@sinclair/typebox';
import { databaseSettings } from '@floodgate/database';
import { testMailSettings } from '@floodgate/mail/console';
import { optionalText, port, processSettings } from '@floodgate/service';
import { allowPrivateSetting } from '@floodgate/webhooks/console';

/** Settings of the console. */
export const ConsoleConfig = Type.Object({
  ...databaseSettings,
  ...processSettings,
  ...allowPrivateSetting,
  ...testMailSettings,
  CONSOLE_HOST: Type.String({ default: '127.0.0.1', description: 'address that the console listens on' }),
  CONSOLE_PORT: port('port that the console listens on', 3003),
  METRICS_PORT: port('port for /metrics, on the same address; 0: no metrics', 0),
  CONSOLE_URL: optionalText(
    'address at which browsers reach the console; with https, cookies are sent over https only',
    { pattern: '^https?://[^/]+$' },
  ),
  DOOR_URL: optionalText(
    'address of the scanner as devices reach it, such as https://tickets.example.com/door/; codes that enrol ' +
      'devices are then links to it',
    { pattern: '^https?://[^/?#\\s]+/[^?#\\s]*$' },
  ),
  CONSOLE_PROXIES: optionalText(
    'addresses or networks of the proxies in front of the console, separated by commas; the ' +
      'X-Forwarded-For header of others is ignored',
    { pattern: '^[0-9A-Fa-f.:]+(/\\d+)?(,[0-9A-Fa-f.:]+(/\\d+)?)*$' },
  ),
  OIDC_ISSUER: optionalText(
    'identity provider (OpenID Connect) at which operators sign in; https, or http on this machine',
    { pattern: '^(https://|http://(localhost|127\\.0\\.0\\.1)([:/]|$)).*$' },
  ),
  OIDC_CLIENT_ID: optionalText('id of the console at the identity provider'),
  OIDC_CLIENT_SECRET: optionalText('secret of the console at the identity provider'),
});

export type ConsoleConfig = Static<typeof ConsoleConfig>;
