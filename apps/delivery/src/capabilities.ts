import type { DeliveryCapability } from '@floodgate/journal';
import { mailDelivery } from '@floodgate/mail/delivery';
import { webhooksDelivery } from '@floodgate/webhooks/delivery';

/** Everything that is sent to somebody outside. */
export const CAPABILITIES: readonly DeliveryCapability[] = [mailDelivery, webhooksDelivery];
