import { Type, type Static } from '@sinclair/typebox';
import { databaseSettings } from '@floodgate/database';
import { port, processSettings, whole } from '@floodgate/service';
import { CAPABILITIES } from './capabilities.ts';

const kinds = CAPABILITIES.map(({ kind }) => kind);
const settings = CAPABILITIES.map((capability) => capability.settings);

/** Everything that a delivery process reads from its environment; typed is what it has by itself. */
export const DeliveryConfig = Type.Object({
  ...databaseSettings,
  ...processSettings,
  DELIVERY_HOST: Type.String({ default: '0.0.0.0', description: 'address of the health endpoint' }),
  DELIVERY_PORT: port('port of the health endpoint', 3002),
  DELIVERIES: Type.String({
    pattern: `^(${kinds.join('|')})(,(${kinds.join('|')}))*$`,
    default: kinds.join(','),
    description: `what this process delivers, separated by commas: ${kinds.join(', ')}`,
  }),
  STALLED_AFTER_MS: whole(
    'time without progress after which the process is unhealthy',
    [100, 3_600_000],
    60_000,
  ),
  ...(Object.assign({}, ...settings) as object),
});
export type DeliveryConfig = Static<typeof DeliveryConfig>;
