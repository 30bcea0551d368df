import { runService } from '@floodgate/config';
import { ApiConfig } from './config.ts';
import { startApi } from './start-api.ts';

await runService('floodgate-api', ApiConfig, startApi);
