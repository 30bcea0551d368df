/** @import { Facts } from './wire.d.ts' */

const NAME = 'floodgate-door';

/** @type {Facts} */
const NO_FACTS = {
  enrolment: null,
  head: { counter: 0, hash: '' },
  event: null,
  keys: [],
  gates: [],
  gateID: null,
  revocations: { cursor: '0', at: null },
  clockOffsetMs: 0,
  refusal: null,
  isSignedOff: false,
};

/**
 * Resolves to the result of a request of IndexedDB.
 * @template Value
 * @param {IDBRequest<Value>} request
 * @returns {Promise<Value>}
 */
export function resultOf(request) {
  return new Promise((resolve, reject) => {
    request.addEventListener('success', () => resolve(request.result));
    request.addEventListener('error', () => reject(request.error));
  });
}

/** Opens the database of the device. */
export function openStorage() {
  const request = indexedDB.open(NAME, 1);
  request.addEventListener('upgradeneeded', () => {
    const db = request.result;
    for (const store of ['facts', 'revoked', 'admissions']) db.createObjectStore(store);
    db.createObjectStore('scans', { keyPath: 'counter' }).createIndex('waiting', 'waiting');
  });
  return resultOf(request);
}

/**
 * Makes all changes in one transaction. Resolves when it is on disk.
 * @param {IDBDatabase} db
 * @param {string[]} stores
 * @param {(store: (name: string) => IDBObjectStore) => void} change
 * @returns {Promise<void>}
 */
export function write(db, stores, change) {
  const transaction = db.transaction(stores, 'readwrite', { durability: 'strict' });
  change((name) => transaction.objectStore(name));
  return new Promise((resolve, reject) => {
    transaction.addEventListener('complete', () => resolve());
    transaction.addEventListener('abort', () => reject(transaction.error));
  });
}

/**
 * Resolves to a value, or undefined.
 * @param {IDBDatabase} db
 * @param {string} store
 * @param {IDBValidKey} key
 */
export const read = (db, store, key) => resultOf(db.transaction(store).objectStore(store).get(key));

/**
 * Reads all facts. A fact that is not stored yet has its first value.
 * @param {IDBDatabase} db
 * @returns {Promise<Facts>}
 */
export async function loadFacts(db) {
  const store = db.transaction('facts').objectStore('facts');
  const [names, values] = await Promise.all([resultOf(store.getAllKeys()), resultOf(store.getAll())]);
  const stored = Object.fromEntries(names.map((name, index) => [name, values[index]]));
  return { ...NO_FACTS, ...stored };
}

/** @param {IDBObjectStore} store @param {Partial<Facts>} facts */
export function putFacts(store, facts) {
  for (const [name, value] of Object.entries(facts)) store.put(value, name);
}

/**
 * Changes facts of a door, in memory and on disk.
 * @param {{ db: IDBDatabase } & Facts} door
 * @param {Partial<Facts>} facts
 */
export async function saveFacts(door, facts) {
  Object.assign(door, facts);
  await write(door.db, ['facts'], (store) => putFacts(store('facts'), facts));
}

/**
 * Deletes the database with the key of the device, the caches, and the service worker.
 * @param {IDBDatabase} db
 */
export async function eraseAll(db) {
  db.close();
  await resultOf(indexedDB.deleteDatabase(NAME));
  for (const name of await caches.keys()) await caches.delete(name);
  for (const worker of await navigator.serviceWorker.getRegistrations()) await worker.unregister();
}
