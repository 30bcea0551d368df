// A server that reads requests and answers each with "00" and a pass reference of its own, at the least cost.
import { createServer } from 'node:net';

let count = 0;
const HEAD =
  'HTTP/1.1 200 OK\r\ncontent-type: application/json; charset=utf-8\r\nconnection: keep-alive\r\ncontent-length: ';

function answer(): string {
  count += 1;
  const body = `{"responseCode":"00","responseMessage":"Successful","responseData":"GALA-1001-${count}-5909379514"}`;
  return `${HEAD}${body.length}\r\n\r\n${body}`;
}

const server = createServer((socket) => {
  socket.setNoDelay(true);
  socket.on('error', () => {});
  socket.on('data', (chunk) => {
    let answers = '';
    for (let at = chunk.indexOf('POST /'); at >= 0; at = chunk.indexOf('POST /', at + 1)) answers += answer();
    if (answers !== '') socket.write(answers);
  });
});
server.listen(0, '127.0.0.1', () => process.send!(server.address()));
process.on('disconnect', () => process.exit());
