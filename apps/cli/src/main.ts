import { runCli } from './program.ts';

const { env, stdout, stderr } = process;

// `floodgate … | head` closes the pipe early, which is not a failure.
stdout.on('error', () => process.exit());

process.exitCode = await runCli(process.argv.slice(2), { env, stdout, stderr });
// An abandoned connection attempt must not delay the exit. The timer starts when the output was read: a pipe
// takes 64 KiB at a time.
stdout.write('', () => setTimeout(() => process.exit(), 500).unref());
