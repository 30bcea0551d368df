// The server serves this module of the package `qr` here.
export { decodeQR } from 'qr/decode.js';
