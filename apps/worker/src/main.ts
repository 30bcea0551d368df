#!/usr/bin/env -S node --max-semi-space-size=8 --heap-growing-percent=40
import { runService } from '@floodgate/config';
import { WorkerConfig } from './config.ts';
import { startWorker } from './start-worker.ts';

await runService('floodgate-worker', WorkerConfig, startWorker);
