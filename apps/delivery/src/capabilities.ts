import type { DeliveryCapability } from '@floodgate/journal';
import { mailDelivery } from '@floodgate/mail/delivery';
import { webhooksDelivery } from '@floodgate/webhooks/delivery';

/** Capabilities of the delivery process: the kinds of deliveries. */
export const CAPABILITIES: readonly DeliveryCapability[] = [mailDelivery, webhooksDelivery];
