import { choosePass, isPassLike, spelled } from './typed.js';

/** The same code is read again when it was out of sight for this time. */
const OUT_OF_SIGHT_MS = 2_000;
/**
 * The decoder in JavaScript misses tilted codes at some angles, so it turns its picture. A right angle
 * changes nothing.
 */
const TURNS = 5;
const CONSTRAINTS = {
  audio: false,
  video: { facingMode: 'environment', width: { ideal: 1_280 }, height: { ideal: 720 } },
};

/**
 * The detector of some browsers. TypeScript does not know it yet.
 * @typedef {{ detect(image: HTMLVideoElement): Promise<{ rawValue: string }[]> }} Detector
 * @typedef {{ new (options: object): Detector, getSupportedFormats(): Promise<string[]> }} DetectorClass
 */

/**
 * Resolves to a function that reads the code in the current frame. It uses the detector of the browser, or a
 * slower one in JavaScript. Of several codes, such as that of a sponsor next to the pass, it chooses the one
 * that looks like a pass.
 * @returns {Promise<(video: HTMLVideoElement) => Promise<string | undefined>>}
 */
async function createReader() {
  const Native = /** @type {{ BarcodeDetector?: DetectorClass }} */ (globalThis).BarcodeDetector;
  if (!Native || !(await Native.getSupportedFormats()).includes('qr_code')) return createDecoder();
  const detector = new Native({ formats: ['qr_code'] });
  return async (video) => choosePass((await detector.detect(video)).map(({ rawValue }) => rawValue));
}

async function createDecoder() {
  const { decodeQR } = await import('./qr/decode.js');
  const context = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  if (!context) throw new Error('This browser cannot read the pictures of the camera');
  /** The decoder finds one code in a picture. So if it is no pass, each half of the picture is read as well. */
  const readParts = (/** @type {number} */ width, /** @type {number} */ height) => {
    const [halfWidth, halfHeight] = [Math.floor(width / 2), Math.floor(height / 2)];
    const whole = readPart(0, 0, width, height);
    if (whole === undefined || isPassLike(spelled(whole))) return whole;
    const parts = [
      readPart(0, 0, halfWidth, height),
      readPart(halfWidth, 0, halfWidth, height),
      readPart(0, 0, width, halfHeight),
      readPart(0, halfHeight, width, halfHeight),
    ];
    return choosePass([whole, ...parts.filter((text) => text !== undefined)]);
  };
  const readPart = (
    /** @type {number} */ left,
    /** @type {number} */ top,
    /** @type {number} */ width,
    /** @type {number} */ height,
  ) => {
    try {
      return decodeQR(context.getImageData(left, top, width, height));
    } catch {
      // No code is an error of the decoder.
      return undefined;
    }
  };
  return async (/** @type {HTMLVideoElement} */ video) => {
    const { videoWidth: width, videoHeight: height } = video;
    Object.assign(context.canvas, { width, height });
    context.translate(width / 2, height / 2);
    for (let turn = 0; turn < TURNS; turn += 1) {
      context.drawImage(video, -width / 2, -height / 2);
      const text = readParts(width, height);
      if (text !== undefined) return text;
      context.rotate(Math.PI / 2 / TURNS);
      // The page stays responsive.
      await new Promise((resolve) => setTimeout(resolve));
    }
    return undefined;
  };
}

/**
 * Shows the camera in the video element until the signal ends it, and calls `onCode` with each code that
 * comes into sight. Calls `onEnded` if the browser or the system takes the camera away: while the page was
 * hidden, for a call, or because it was unplugged.
 * @param {HTMLVideoElement} video
 * @param {(text: string) => void} onCode
 * @param {() => void} onEnded
 * @param {AbortSignal} signal
 */
export async function startCamera(video, onCode, onEnded, signal) {
  const stream = await navigator.mediaDevices.getUserMedia(CONSTRAINTS);
  const [track] = stream.getVideoTracks();
  const end = () => {
    track?.stop();
    video.srcObject = null;
  };
  signal.addEventListener('abort', end);
  // Closed while the browser asked for the permission.
  if (signal.aborted) return end();
  video.srcObject = stream;
  // A muted camera sends no pictures: another app has it.
  for (const name of ['ended', 'mute']) track?.addEventListener(name, onEnded, { signal });
  await video.play();
  const readFrame = await createReader();
  await keepScreenOn(signal);
  let last = { text: '', seenMs: 0 };

  const nextFrame = () =>
    new Promise((resolve) => video.requestVideoFrameCallback?.(resolve) ?? requestAnimationFrame(resolve));

  const readFrames = async () => {
    for (await nextFrame(); stream.active; await nextFrame()) {
      const text = await readFrame(video).catch(() => undefined);
      if (!text) continue;
      const seenMs = performance.now();
      const isNew = text !== last.text || seenMs - last.seenMs > OUT_OF_SIGHT_MS;
      last = { text, seenMs };
      if (isNew && stream.active) onCode(text);
    }
  };
  void readFrames();
  return track;
}

/**
 * Keeps the screen on. The browser ends this when the page is hidden, so it is requested again.
 * @param {AbortSignal} signal
 */
async function keepScreenOn(signal) {
  /** @type {WakeLockSentinel | undefined} */
  let lock;
  const request = async () => {
    if (document.visibilityState === 'visible')
      lock = await navigator.wakeLock?.request('screen').catch(() => undefined);
  };
  document.addEventListener('visibilitychange', () => void request(), { signal });
  signal.addEventListener('abort', () => void lock?.release());
  await request();
}
