import { runCli } from './program.ts';

const { env, stdout, stderr } = process;

// `floodgate … | head` closes the pipe early; that is not a failure.
stdout.on('error', () => process.exit());

process.exitCode = await runCli(process.argv.slice(2), { env, stdout, stderr });
// A connection that was given up may still be trying; it does not keep the operator waiting, once all was read that was
// said: a pipe takes 64 KiB at a time.
stdout.write('', () => setTimeout(() => process.exit(), 500).unref());
