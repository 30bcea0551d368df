#!/usr/bin/env -S MALLOC_ARENA_MAX=1 node --max-semi-space-size=12 --heap-growing-percent=40 --v8-pool-size=1
import { runService } from '@floodgate/service';
import { ApiConfig } from './config.ts';
import { startApi } from './start-api.ts';

await runService('floodgate-api', ApiConfig, startApi);
