import type { Routes } from './server.ts';

/** Adds routes that read no body, whatever is sent. */
export function withoutBody(api: Routes, add: (routes: Routes) => void): void {
  void api.register((routes, _options, done) => {
    // There is nothing to say in a body, and clients send one nevertheless, of any type or none.
    routes.removeAllContentTypeParsers();
    routes.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, _body, parsed) => parsed(null));
    routes.addHook('onRequest', (request, _reply, next) => {
      const { headers } = request;
      if (headers['content-length'] ?? headers['transfer-encoding'])
        headers['content-type'] = 'application/octet-stream';
      // Of nothing there is no type.
      else delete headers['content-type'];
      next();
    });
    add(routes);
    done();
  });
}
