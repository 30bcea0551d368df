// An SMTP server in its own process. It throws away the e-mails that it accepts, and refuses addresses that begin with "blocked".
// Prints its address at the start, and at the end how many e-mails it accepted.
import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';

let accepted = 0;
const server = new SMTPServer({
  authOptional: true,
  disabledCommands: ['STARTTLS', 'AUTH'],
  disableReverseLookup: true,
  onRcptTo({ address }, _session, done) {
    const isBlocked = address.startsWith('blocked');
    done(isBlocked ? Object.assign(new Error('5.7.1 blocked'), { responseCode: 550 }) : undefined);
  },
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
