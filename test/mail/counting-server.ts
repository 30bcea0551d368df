// An SMTP server in a process of its own, which throws away what it accepts. Prints its address, and how many it was when it ends.
import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';

let accepted = 0;
const server = new SMTPServer({
  authOptional: true,
  disabledCommands: ['STARTTLS', 'AUTH'],
  disableReverseLookup: true,
  onData(stream, _session, done) {
    stream.resume().on('end', () => {
      accepted += 1;
      done();
    });
  },
});
server.on('error', () => {});
server.listen(0, '127.0.0.1', () =>
  process.stdout.write(`smtp://127.0.0.1:${(server.server.address() as AddressInfo).port}\n`),
);
process.on('SIGTERM', () => {
  process.stdout.write(`${accepted}\n`);
  process.exit(0);
});
