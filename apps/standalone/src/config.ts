import { Type, type Static } from '@sinclair/typebox';
import { databaseSettings } from '@floodgate/database';
import { optionalText, port, processSettings } from '@floodgate/service';
import { queueSettings } from '@floodgate/queue';
import { finalizeSettings } from '@floodgate/registrations';

/** The settings of `npm start`. Settings that its processes share are here too, so a mistake is reported once, before they start. */
export const StandaloneConfig = Type.Object({
  DATABASE_URL: Type.Optional(databaseSettings.DATABASE_URL),
  ...queueSettings,
  ...finalizeSettings,
  QUEUE_URL: Type.Optional(queueSettings.QUEUE_URL),
  ...processSettings,
  DATA_DIR: optionalText("directory for the database and demo.json; the project's .floodgate by default"),
  // Made for a laptop. HOST=0.0.0.0 accepts connections from other machines.
  HOST: Type.String({ default: '127.0.0.1', description: 'address that the API listens on' }),
  PORT: port('port that the API listens on, 0 for any', 3000),
  WORKER_PORT: port("port of the worker's health checks, 0 for any", 0),
  DELIVERY_PORT: port(
    'port of the mailcatcher, metrics and health checks of what is delivered; 0: the one two above PORT, or any if that is taken',
    0,
  ),
});

export type StandaloneConfig = Static<typeof StandaloneConfig>;
