import type { DeliveryCapability } from '@floodgate/journal';
import { webhooksDelivery } from '@floodgate/webhooks/delivery';

/** Everything that is told to somebody outside. */
export const CAPABILITIES: readonly DeliveryCapability[] = [webhooksDelivery];
