import { Type, type Static, type TObject, type TProperties } from '@sinclair/typebox';
import { databaseSettings } from '@floodgate/database';
import { flag, optionalText, port, processSettings, whole } from '@floodgate/service';
import { queueSettings } from '@floodgate/queue';
import { CAPABILITIES } from './capabilities.ts';

const settings = {
  ...databaseSettings,
  ...queueSettings,
  ...processSettings,
  HOST: Type.String({ default: '0.0.0.0', description: 'address to listen on' }),
  CONTACT_URL: optionalText(
    'contact for partners, a web page or mailto: address; shown in the API reference',
    { pattern: '^(?:https?://|mailto:).+$' },
  ),
  DEMO_FILE: optionalText(
    'demo.json with the test key, event and ticket for the requests at /docs; only for `npm start`, ' +
      'which sets it on a loopback address',
  ),
  PORT: port('port to listen on', 3000),
  METRICS_PORT: port('port for /metrics, on the same address; 0: no metrics', 0),
  ACCESS_LOG: flag('true: log one line per request with its id, route, response code and time'),
  DRAIN_MS: whole(
    'how long a stop lets a proxy end its connections; longer than the proxy keeps an idle connection',
    [0, 60_000],
    0,
  ),
  READ_CONNECTIONS: whole('connections to Postgres, except those that reserve seats', [1, 100], 4),
  ANSWER_WITHIN_MS: whole(
    'time limit for the answer to a registration, a change of one or a list; after it, the answer is 90 or 91',
    [100, 60_000],
    3_000,
  ),
  READ_WITHIN_MS: whole(
    'time limit for a read; after it, the answer is 90. A revoked key is refused within a second and this time',
    [100, 60_000],
    1_000,
  ),
};

const capabilitySettings = Object.assign({}, ...CAPABILITIES.map((face) => face.settings)) as TProperties;

export const ApiConfig = Type.Object({ ...settings, ...capabilitySettings });

export type ApiConfig = Static<TObject<typeof settings>> & Record<string, unknown>;
