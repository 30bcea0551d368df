#!/usr/bin/env -S MALLOC_ARENA_MAX=1 node --max-semi-space-size=2 --heap-growing-percent=40
import { runService } from '@floodgate/service';
import { WorkerConfig } from './config.ts';
import { startWorker } from './start-worker.ts';

await runService('floodgate-worker', WorkerConfig, startWorker);
