import { runService } from '@floodgate/service';
import { DeliveryConfig } from './config.ts';
import { startDelivery } from './start-delivery.ts';

await runService('floodgate-delivery', DeliveryConfig, startDelivery);
