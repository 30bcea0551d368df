import { runService } from '@floodgate/service';
import { WorkerConfig } from './config.ts';
import { startWorker } from './start-worker.ts';

await runService('floodgate-worker', WorkerConfig, startWorker);
