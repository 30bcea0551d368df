import { Type, type Static } from '@sinclair/typebox';
import { databaseSettings } from '@floodgate/database';
import { port, processSettings, whole } from '@floodgate/service';
import { CAPABILITIES } from './capabilities.ts';

const kinds = CAPABILITIES.map(({ kind }) => kind);
const [all, one] = [kinds.join(','), `(${kinds.join('|')})`];
const settings = CAPABILITIES.map((capability) => capability.settings);

/** Settings of a delivery process. The type has only the process's own. */
export const DeliveryConfig = Type.Object({
  ...databaseSettings,
  ...processSettings,
  DELIVERY_HOST: Type.String({ default: '0.0.0.0', description: 'address of the health endpoint' }),
  DELIVERY_PORT: port('port of the health endpoint', 3002),
  DELIVERIES: Type.String({
    pattern: `^${one}(,${one})*$`,
    default: all,
    description: `comma-separated kinds that this process delivers: ${all}`,
  }),
  STALLED_AFTER_MS: whole(
    'time without progress after which the process is unhealthy',
    [100, 3_600_000],
    60_000,
  ),
  ...(Object.assign({}, ...settings) as object),
});
export type DeliveryConfig = Static<typeof DeliveryConfig>;
