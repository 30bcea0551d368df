import { runService } from '@floodgate/service';
import { ApiConfig } from './config.ts';
import { startApi } from './start-api.ts';

await runService('floodgate-api', ApiConfig, startApi);
