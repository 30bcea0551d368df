import { runService } from '@floodgate/service';
import { ConsoleConfig, startConsole } from './start-console.ts';

await runService('floodgate-console', ConsoleConfig, startConsole);
