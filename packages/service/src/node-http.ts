/** The module node:http. An import of it by name also loads the fetch of Node.js, which takes about 5 MB of memory in each process. */
export const http = process.getBuiltinModule('node:http');
