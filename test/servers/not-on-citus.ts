/** Folders of tests that also run on Citus. */
export const FOLDERS_ON_CITUS = [
  'audit',
  'console',
  'database',
  'deliveries',
  'door',
  'end-to-end',
  'http',
  'jobs',
  'journal',
  'mail',
  'partners',
  'passes',
  'queue',
  'registrations',
  'reports',
  'service',
  'tickets',
  'waiting-list',
  'webhooks',
];

/** Files in them that do not run on Citus, by reason. */
export const FILES_NOT_ON_CITUS: Record<string, string[]> = {
  'about one Postgres: its schema, its versions, its sessions': [
    'database/migrate-prices',
    'database/schema-changes',
    'database/session-settings',
    'database/unsupported-database',
    'waiting-list/interleavings',
    'door/late-scans',
  ],
  'citus/cluster asks the same of real processes there': [
    'end-to-end/processes',
    'partners/mixed-limit.timing',
    'partners/rate-limit',
    'partners/rate-limit.timing',
  ],
  'about what a process does: what is asked of the database other files ask as well': [
    'service/api-stop',
    'service/log-capture',
    'service/worker-health',
    'service/worker-process',
  ],
  'starts servers of its own': [
    'end-to-end/compose',
    'end-to-end/compose-proxy',
    'end-to-end/docs-page',
    'end-to-end/failover',
    'end-to-end/install',
    'end-to-end/npm-scripts',
    'end-to-end/standalone',
  ],
  'about what processes send to a collector of traces: end-to-end/deliveries asks the database for the same':
    ['end-to-end/traces'],
  'the tables of the queue are in no shard, and registrations/finalize runs workers with that queue': [
    'queue/conformance',
  ],
  'about HTTP, or about load: what is asked of the database other files ask as well': [
    'door/hostile',
    'http/bodies',
    'http/contract',
    'http/drain',
    'http/expect-continue',
    'http/failed-start',
    'http/hostile-clients',
    'http/invalid-fields',
    'http/large-bodies',
    'http/malformed-http',
    'http/private-answers',
    'http/read-floods',
    'http/reference',
    'http/exact-answers',
    'registrations/field-rules',
    'registrations/fair-shares',
    'registrations/fair-shares.timing',
    'registrations/overload',
    'registrations/overload.evidence',
    'registrations/overload.timing',
    'partners/secret-keys',
  ],
  'about Redis, or about what a worker does with queues': [
    'queue/cluster-failover',
    'queue/consumers',
    'queue/consumers.evidence',
    'queue/forged-jobs',
    'queue/half-open',
    'queue/outages',
    'queue/outages.timing',
    'queue/queue-problems',
    'queue/redis-policy',
    'queue/sentinel',
    'queue/two-queues',
  ],
  'kills processes in each state of a delivery': ['deliveries/crashes'],
  'about pages, sign-in and browsers: what is asked of the database the other files of the console ask as well':
    [
      'console/account',
      'console/event-looks',
      'console/export',
      'console/forms',
      'console/forms-in-browser',
      'console/health',
      'console/identity-provider',
      'console/limited-pages',
      'console/markup',
      'console/metrics',
      'console/operator-api',
      'console/outages.evidence',
      'console/pages',
      'console/partner-pages',
      'console/pass-codes',
      'console/people-in-browser',
      'console/sign-in',
      'console/walk',
    ],
  'about settings': ['service/settings', 'service/wrong-settings'],
  'about e-mails, or about what a process does with them: what is asked of the database mail/send asks as well':
    ['mail/at-most-once', 'mail/commands', 'mail/e-mail', 'mail/mailcatcher', 'mail/sharing'],
};

const ONE_LOCK = 'pauses by an advisory lock, which is one server’s';

const ABOUT_SMTP = 'about what an SMTP server answers: the database is asked what other tests ask as well';

const ABOUT_RECEIVERS =
  'about what a receiver answers, or where it may be: other tests of the file ask the database for the same';

const OWN_STATISTICS = 'counts what Postgres reads, and each server counts its own';

/** Tests in the other files that do not run on Citus, by file and name, with the reason. */
export const TESTS_NOT_ON_CITUS: Record<string, Record<string, string>> = {
  'deliveries/many-rows': {
    'finished rows do not slow a lease': 'on a cluster they do: 0.1 s for 200,000 of them',
  },
  'journal/read-journal': {
    'a partner reads no more than twice what it is given, and a look ahead, whoever else has written':
      OWN_STATISTICS,
    'a kind that is rare is looked for a part at a time, and what was looked at is not looked at again':
      OWN_STATISTICS,
    'the oldest go first, up to the first that is kept, and each round reads no more than it may delete':
      OWN_STATISTICS,
  },
  'mail/send': {
    '421: everybody waits, and it costs no attempt': ABOUT_SMTP,
    '454: everybody waits, and it costs no attempt': ABOUT_SMTP,
    'of one address alone, whatever the server says it is about: that one waits, and keeps nobody':
      ABOUT_SMTP,
    'of some addresses by its policy: they wait, the others are sent without a pause, and nobody is suppressed':
      ABOUT_SMTP,
    'of us, by its policy: everybody waits, and nobody is undeliverable or suppressed': ABOUT_SMTP,
    'of everybody, as servers do that do not relay for us: a few end, the others wait until it is put right':
      ABOUT_SMTP,
    'of the sender, not of an address: everybody waits, and nobody is suppressed': ABOUT_SMTP,
  },
  'registrations/list': {
    'a page is found by keys, whatever Postgres knows of the tables': OWN_STATISTICS,
  },
  'registrations/plans': {
    'a batch reads what it wants by keys, of tables that Postgres has never analyzed': OWN_STATISTICS,
    'a hold does not read what its partner holds of the ticket': OWN_STATISTICS,
  },
  'registrations/commit-faults': {
    'an attempt that is in its commit when the connection is lost is waited for, and not repeated': ONE_LOCK,
    'a server that only reads is left for the one that new connections lead to':
      'only the coordinator would be read-only, and it writes nothing itself',
  },
  'registrations/finalize-batches': {
    'no more batches are asked for one by one once Postgres is out of something':
      'counts by a sequence, and each server has its own',
  },
  'registrations/reconcile': {
    'any number of differences is counted: the list is cut, the JSON is whole':
      'about what is printed, of more rows than are stored there quickly',
  },
  'registrations/reserve-batch-races': {
    'batches whose serials lie among each other each find their own registrations':
      'each server has a sequence of its own',
    'two batches with the same attendees in opposite order never wait for each other': ONE_LOCK,
    'two batches with the same idempotency keys in opposite order never wait for each other': ONE_LOCK,
    'two batches with the same key of several partners in opposite order never wait for each other': ONE_LOCK,
  },
  'webhooks/delivery': {
    'because of a redirect comes again later, the same': ABOUT_RECEIVERS,
    'because of a closed connection comes again later, the same': ABOUT_RECEIVERS,
    'because of a 503 without Retry-After comes again later, the same': ABOUT_RECEIVERS,
    'a private address is refused on every attempt, and nothing arrives': ABOUT_RECEIVERS,
    'a name that stands for somebody else by the next connection is refused then, though it was fine before':
      ABOUT_RECEIVERS,
    'receivers that answer slowly leave room for the others': ABOUT_RECEIVERS,
  },
};
