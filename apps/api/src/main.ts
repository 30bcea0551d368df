#!/usr/bin/env -S node --max-semi-space-size=8 --heap-growing-percent=40
import { runService } from '@floodgate/config';
import { ApiConfig } from './config.ts';
import { startApi } from './start-api.ts';

await runService('floodgate-api', ApiConfig, startApi);
