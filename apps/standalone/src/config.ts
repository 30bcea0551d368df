import { Type, type Static } from '@sinclair/typebox';
import { databaseSettings } from '@floodgate/database';
import { optionalText, port, processSettings } from '@floodgate/service';
import { queueSettings } from '@floodgate/queue';
import { finalizeSettings } from '@floodgate/registrations';

/**
 * Settings of `npm start`, including those that its services share: a mistake is reported once, before the
 * services start.
 */
export const StandaloneConfig = Type.Object({
  DATABASE_URL: Type.Optional(databaseSettings.DATABASE_URL),
  ...queueSettings,
  ...finalizeSettings,
  QUEUE_URL: Type.Optional(queueSettings.QUEUE_URL),
  ...processSettings,
  DATA_DIR: optionalText("directory for the database and demo.json; by default the project's .floodgate"),
  // Only this machine can connect. HOST=0.0.0.0 accepts connections from other machines.
  HOST: Type.String({ default: '127.0.0.1', description: 'address that the API listens on' }),
  PORT: port('port that the API listens on, 0 for any', 3000),
  WORKER_PORT: port("port of the worker's health checks, 0 for any", 0),
  DELIVERY_PORT: port(
    'port for the mailcatcher, metrics and health checks of the delivery process; 0: PORT + 2, or any ' +
      'port if that is in use',
    0,
  ),
  CONSOLE_PORT: port('port of the console; 0: PORT + 3, or any port if that is in use', 0),
});

export type StandaloneConfig = Static<typeof StandaloneConfig>;
