import { writeFile } from 'node:fs/promises';
import { InvalidArgumentError, Option, type Command } from '@commander-js/extra-typings';
import { Failure, onRun, tableOf, type Cli } from '@floodgate/command';
import { parseDurationMs, parseId, parseText, parseWhole } from '@floodgate/command/arguments';

const KEY = 'REHEARSAL_SECRET_KEY';

function parseUrl(text: string) {
  if (/^https?:$/.test(URL.parse(text)?.protocol ?? '')) return text;
  throw new InvalidArgumentError('Expected an address like https://tickets.example.');
}

/** `floodgate rehearse` */
export function addRehearseCommand(program: Command, cli: Cli) {
  const rehearse = program
    .command('rehearse')
    .description(
      `rehearse a launch with a test event and its key in ${KEY}; exit 1 if an objective is missed`,
    )
    .requiredOption('--url <url>', 'the address of the API or of its proxy', parseUrl)
    .requiredOption('--event <ref>', 'the x-event-ref of the test event', parseText)
    .option('--ticket <id>', 'the ticket; by default the one with the most seats left', parseId)
    .option('--rate <registrations>', 'registrations per second', parseWhole, 1_000)
    .addOption(new Option('--for <duration>', 'how long').argParser(parseDurationMs).default(30_000, '30s'))
    .option('--connections <number>', 'limit of connections', parseWhole, 1_000)
    .option('--metrics <url...>', 'the metrics of the API processes and of a worker')
    .option('--out <file>', 'where the report goes', parseText, 'rehearsal.html');
  onRun(rehearse, cli, async ({ event: eventRef, ticket: ticketId, rate, for: ms, out, ...options }) => {
    const secretKey = cli.env[KEY];
    if (!secretKey) throw new Failure(`set ${KEY} to a key for test events`);
    const { reportOf, rowsOf } = await import('./report.ts');
    const run = await import('./rehearse.ts');
    const rehearsal = await run.rehearse({
      ...options,
      secretKey,
      eventRef,
      ticketId,
      perSecond: rate,
      seconds: ms / 1_000,
      onProgress: ({ sent, answered }) => cli.stderr.write(`sent ${sent}, answered ${answered}\n`),
    });
    await writeFile(out, reportOf(rehearsal));
    const { log: _log, ...document } = rehearsal;
    const { objectives, figures, advice } = document;
    const missed = objectives.filter(({ isMet }) => !isMet).map(({ name }) => name);
    const codes = Object.entries(figures.codes).map(([code, answers]) => ({ code, answers }));
    const parts = [tableOf(rowsOf(objectives)), tableOf(codes), ...advice, `report: ${out}`];
    return {
      document,
      text: parts.join('\n\n'),
      ...(missed.length > 0 && { failure: `missed: ${missed.join('; ')}` }),
    };
  });
}
