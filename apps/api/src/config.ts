import { Type, type Static } from '@sinclair/typebox';
import { databaseSettings } from '@floodgate/database';
import { port, processSettings, whole } from '@floodgate/service';
import { producerSettings, queueSettings } from '@floodgate/queue';
import { finalizeBatchesJob } from '@floodgate/registrations';

/** Everything that the API reads from its environment. */
export const ApiConfig = Type.Object({
  ...databaseSettings,
  ...queueSettings,
  ...producerSettings([finalizeBatchesJob]),
  ...processSettings,
  HOST: Type.String({ default: '0.0.0.0', description: 'address to listen on' }),
  PORT: port('port to listen on', 3000),
  READ_CONNECTIONS: whole('connections to Postgres for everything but reserving', {
    minimum: 1,
    maximum: 100,
    default: 4,
  }),
  BATCH_LIMIT: whole('registrations in one commit', { minimum: 1, maximum: 5_000, default: 2_000 }),
  WAITING_LIMIT: whole('registrations that may wait for a commit; further ones are answered 90', {
    minimum: 1,
    maximum: 1_000_000,
    default: 10_000,
  }),
  ANSWER_WITHIN_MS: whole('how long a registration may wait for its answer before it is 90 or 91', {
    minimum: 100,
    maximum: 60_000,
    default: 3_000,
  }),
});

export type ApiConfig = Static<typeof ApiConfig>;
