// An SMTP server in a separate process. Started by mails.ts.
import type { AddressInfo } from 'node:net';
import process from 'node:process';
import { SMTPServer } from 'smtp-server';
import type { Accepted } from './mails.ts';

const REPORT_MS = 20;

const accepted: Accepted = { count: 0, at: 0 };
const server = new SMTPServer({
  authOptional: true,
  disabledCommands: ['STARTTLS', 'AUTH'],
  disableReverseLookup: true,
  onData(stream, _session, done) {
    stream.resume().on('end', () => {
      accepted.count += 1;
      accepted.at = Date.now();
      done();
    });
  },
});
// A cut connection is not a failure of the server.
server.on('error', () => {});
server.listen(0, '127.0.0.1', () => {
  process.send!({ port: (server.server.address() as AddressInfo).port });
  setInterval(() => process.send!(accepted), REPORT_MS);
});
process.on('disconnect', () => process.exit());
