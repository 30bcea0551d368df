import { createServer, type ServerResponse } from 'node:http';
import { hostname } from 'node:os';

// Stands in place of an API behind the proxy. Answers with the name of its container. Answers /held at
// SIGUSR2. Refuses connections from one SIGHUP to the next.

const held: ServerResponse[] = [];

const server = createServer((request, response) => {
  if (request.url === '/held') {
    held.push(response);
    console.log('holding');
  } else response.end(hostname());
});
const listen = () => server.listen(3000, () => console.log('listening'));
listen();
// The process stays when the server is closed.
setInterval(() => {}, 60_000);

process.on('SIGUSR2', () => {
  for (const response of held.splice(0)) response.end(hostname());
});
process.on('SIGHUP', () => {
  if (server.listening) server.close();
  else listen();
});
process.on('SIGTERM', () => process.exit());
