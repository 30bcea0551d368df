// The server serves this module of the package `qr` here.
export { BarcodeDetector } from 'qr/decode.js';
