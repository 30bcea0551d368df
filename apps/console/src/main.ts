import { runService } from '@floodgate/service';
import { ConsoleConfig } from './config.ts';
import { startConsole } from './start-console.ts';

await runService('floodgate-console', ConsoleConfig, startConsole);
