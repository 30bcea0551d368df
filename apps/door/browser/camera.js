/** The same code is read again when it was out of sight for this time. */
const OUT_OF_SIGHT_MS = 2_000;
const CONSTRAINTS = {
  audio: false,
  video: { facingMode: 'environment', width: { ideal: 1_280 }, height: { ideal: 720 } },
};

/** @typedef {{ detect(image: HTMLVideoElement): Promise<{ rawValue: string }[]> }} Detector */
/** @typedef {{ new (options: { formats: ['qr_code'] }): Detector, getSupportedFormats(): Promise<readonly string[]> }} DetectorClass */

/** Resolves to the detector of the browser, or to a slower one in JavaScript. */
async function createDetector() {
  const native = /** @type {{ BarcodeDetector?: DetectorClass }} */ (globalThis).BarcodeDetector;
  const isNative = (await native?.getSupportedFormats())?.includes('qr_code');
  /** @type {DetectorClass} */
  const Detector = native && isNative ? native : (await import('./qr/decode.js')).BarcodeDetector;
  return new Detector({ formats: ['qr_code'] });
}

/**
 * Shows the camera in the video element, and calls `onCode` with each code that comes into sight.
 * @param {HTMLVideoElement} video
 * @param {(text: string) => void} onCode
 */
export async function startCamera(video, onCode) {
  const stream = await navigator.mediaDevices.getUserMedia(CONSTRAINTS);
  const [track] = stream.getVideoTracks();
  video.srcObject = stream;
  await video.play();
  const detector = await createDetector();
  const screen = await keepScreenOn();
  let last = { text: '', seenMs: 0 };

  const nextFrame = () =>
    new Promise((resolve) => video.requestVideoFrameCallback?.(resolve) ?? requestAnimationFrame(resolve));

  const readFrames = async () => {
    for (await nextFrame(); stream.active; await nextFrame()) {
      const [found] = await detector.detect(video).catch(() => []);
      if (!found) continue;
      const seenMs = performance.now();
      const isNew = found.rawValue !== last.text || seenMs - last.seenMs > OUT_OF_SIGHT_MS;
      last = { text: found.rawValue, seenMs };
      if (isNew && stream.active) onCode(found.rawValue);
    }
  };
  void readFrames();

  return {
    hasTorch: Boolean(track && 'torch' in track.getCapabilities()),
    /** @param {boolean} isOn */
    setTorch: (isOn) => track?.applyConstraints({ advanced: [/** @type {object} */ ({ torch: isOn })] }),
    close() {
      screen.release();
      for (const one of stream.getTracks()) one.stop();
      video.srcObject = null;
    },
  };
}

/** @typedef {Awaited<ReturnType<typeof startCamera>>} Camera */

/** Keeps the screen on. The browser ends this when the page is hidden, so it is requested again. */
async function keepScreenOn() {
  /** @type {WakeLockSentinel | undefined} */
  let lock;
  const request = async () => {
    if (document.visibilityState === 'visible')
      lock = await navigator.wakeLock?.request('screen').catch(() => undefined);
  };
  const requestAgain = () => void request();
  document.addEventListener('visibilitychange', requestAgain);
  await request();
  return {
    release() {
      document.removeEventListener('visibilitychange', requestAgain);
      void lock?.release();
    },
  };
}
