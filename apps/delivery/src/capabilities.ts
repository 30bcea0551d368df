import type { DeliveryCapability } from '@floodgate/journal';

/** Everything that is told to somebody outside. */
export const CAPABILITIES: readonly DeliveryCapability[] = [];
