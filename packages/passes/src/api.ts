import { defineApi, type Routes } from '@floodgate/http';
import { jwkSetOf } from './keys.ts';
import { addPassRoute } from './pass-route.ts';
import { addRevocationsRoute } from './revocations-route.ts';
import { createPassSigner, type PassSigner } from './signer.ts';

/** Gives out passes, and all that is needed to verify them. */
export const passesApi = defineApi({
  settings: {},
  open({ reads, recent, shardReads, answerWithinMs }) {
    const signer = createPassSigner({ db: reads });
    return {
      publicRoutes(app) {
        addKeysRoute(app, signer);
      },
      routes(api) {
        addPassRoute(api, { reads, shardReads, signer, answerWithinMs });
        addRevocationsRoute(api, { reads, recent, answerWithinMs, signer });
      },
    };
  },
});

/** For how long a cache may keep the keys. Those who meet a key that they do not know ask again. */
const CACHE_CONTROL = 'public, max-age=300';

/** GET /.well-known/floodgate/pass-keys.json: by which keys anybody verifies passes. */
function addKeysRoute(app: Routes, signer: PassSigner): void {
  app.get('/.well-known/floodgate/pass-keys.json', { schema: { hide: true } }, async (_request, reply) => {
    const set = jwkSetOf(await signer.keys());
    void reply.header('cache-control', CACHE_CONTROL).type('application/jwk-set+json');
    return reply.send(JSON.stringify(set));
  });
}
