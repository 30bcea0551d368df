import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What a proxy says in place of the service; `cut`: the service is asked, and its answer lost. */
export type Instead = { status: number; body: string; headers?: Record<string, string> } | 'cut';

/** A proxy in front of the API that answers the first requests itself, and passes on the others. */
export interface AnsweringProxy extends AsyncDisposable {
  baseUrl: string;
  /** The Idempotency-Key and the body of every request. */
  requests: { key: string | undefined; body: string }[];
}

export async function startAnsweringProxy(apiUrl: string, instead: Instead[]): Promise<AnsweringProxy> {
  const requests: AnsweringProxy['requests'] = [];
  const server = createServer((request, response) => {
    void (async () => {
      let body = '';
      for await (const chunk of request.setEncoding('utf8')) body += String(chunk);
      const headers = request.headers as Record<string, string>;
      requests.push({ key: headers['idempotency-key'], body });
      const answer = instead.shift();
      if (answer !== undefined && answer !== 'cut')
        return response.writeHead(answer.status, answer.headers).end(answer.body);
      const { host: _host, connection: _connection, 'content-length': _length, ...passed } = headers;
      const { method = 'GET', url = '' } = request;
      const init = { method, headers: passed, ...(body !== '' && { body }) };
      const passedOn = await fetch(new URL(url, apiUrl), init);
      const text = await passedOn.text();
      if (answer === 'cut') return request.socket.destroy();
      return response.writeHead(passedOn.status, Object.fromEntries(passedOn.headers)).end(text);
    })();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
