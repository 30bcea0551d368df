import { open } from 'node:fs/promises';
import { encodeQR } from 'qr';

const [WIDTH, HEIGHT] = [640, 480];
const BORDER_MODULES = 4;
/** Width of a square of the frame's number. */
export const MARK_PIXELS = 12;
export const MARK_BITS = 7;

/** How a camera sees a code. Brightnesses are from 0 to 255. */
interface View {
  pixelsPerModule: number;
  /** In radians. */
  rotation: number;
  /** How much smaller the far edge is. */
  perspective: number;
  light: number;
  dark: number;
  surroundings: number;
  noise: number;
  blurPixels: number;
  /** Brightness of the stripes and reflections of a screen. */
  glare: number;
}

const PLAIN: View = {
  pixelsPerModule: 7,
  rotation: 0,
  perspective: 0,
  light: 225,
  dark: 30,
  surroundings: 120,
  noise: 3,
  blurPixels: 0,
  glare: 0,
};

type Random = () => number;
const between = (random: Random, least: number, most: number) => least + random() * (most - least);

/** What a camera at a door sees. */
const VIEWS: Record<string, (random: Random) => Partial<View>> = {
  normal: (random) => ({
    pixelsPerModule: between(random, 5, 8),
    rotation: between(random, -0.1, 0.1),
    blurPixels: 1,
  }),
  dim: (random) => ({ light: between(random, 60, 90), dark: 25, surroundings: 35, noise: 6, blurPixels: 1 }),
  tilted: (random) => ({
    rotation: between(random, -Math.PI, Math.PI),
    perspective: between(random, -0.25, 0.25),
    pixelsPerModule: between(random, 5, 6.5),
    blurPixels: 1,
  }),
  noisy: (random) => ({ noise: between(random, 20, 40), rotation: between(random, -0.3, 0.3) }),
  blurred: (random) => ({ blurPixels: between(random, 2, 3), rotation: between(random, -0.3, 0.3) }),
  'on a bright screen': (random) => ({
    light: 255,
    dark: between(random, 60, 110),
    surroundings: 20,
    glare: between(random, 20, 45),
    blurPixels: 1,
    rotation: between(random, -0.2, 0.2),
  }),
};

/** Names of the views. The code with the number n has the view n modulo their number. */
export const VIEW_NAMES = Object.keys(VIEWS);

/** Returns random numbers that are the same in each run (mulberry32). */
function seeded(seed: number): Random {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Each frame of a code has other noise. */
const FRAMES_PER_CODE = 4;

/** Writes a video that shows two codes side by side. */
export async function writeTwoCodes(file: string, texts: [left: string, right: string]) {
  const frame = Buffer.alloc(WIDTH * HEIGHT, 235);
  for (const [side, text] of texts.entries()) {
    const modules = encodeQR(text, 'raw', { ecc: 'medium', border: BORDER_MODULES });
    const pixels = Math.floor(WIDTH / 2 / modules.length);
    for (let y = 0; y < modules.length * pixels; y += 1)
      for (let x = 0; x < modules.length * pixels; x += 1)
        if (modules[Math.floor(y / pixels)]![Math.floor(x / pixels)])
          frame[(y + 40) * WIDTH + (side * WIDTH) / 2 + x] = 16;
  }
  await using output = await open(file, 'w');
  await output.write(`YUV4MPEG2 W${WIDTH} H${HEIGHT} F5:1 Ip A1:1 C420jpeg\n`);
  for (let count = 0; count < 2; count += 1) {
    await output.write('FRAME\n');
    await output.write(frame);
    await output.write(Buffer.alloc((WIDTH * HEIGHT) / 2, 128));
  }
}

/** Writes a video in the format YUV4MPEG2 that shows each text as a code, for a third of a second. */
export async function writeDistortedCodes(file: string, texts: string[]) {
  await using output = await open(file, 'w');
  await output.write(`YUV4MPEG2 W${WIDTH} H${HEIGHT} F${3 * FRAMES_PER_CODE}:1 Ip A1:1 C420jpeg\n`);
  const noColour = Buffer.alloc((WIDTH * HEIGHT) / 2, 128);
  for (const [number, text] of texts.entries()) {
    for (const frame of framesOf(text, number)) {
      await output.write('FRAME\n');
      await output.write(frame);
      await output.write(noColour);
    }
  }
}

function* framesOf(text: string, number: number) {
  const random = seeded(number + 1);
  const view = { ...PLAIN, ...Object.values(VIEWS)[number % VIEW_NAMES.length]!(random) };
  const modules = encodeQR(text, 'raw', { ecc: 'medium', encoding: 'alphanumeric', border: BORDER_MODULES });
  let picture = project(modules, view);
  for (let times = 0; times < 2; times += 1) picture = blur(picture, view.blurPixels / 2);
  const gaussian = () => (random() + random() + random() + random() - 2) * 1.7;
  for (let count = 0; count < FRAMES_PER_CODE; count += 1) {
    const noisy = picture.map((luma) => Math.min(255, Math.max(0, luma + view.noise * gaussian())));
    const frame = Buffer.from(noisy);
    mark(frame, number);
    yield frame;
  }
}

/** Returns the brightness of each pixel, as a camera in front of the code would see it. */
function project(modules: boolean[][], view: View): Float64Array {
  const { pixelsPerModule, rotation, perspective, light, dark, surroundings, glare } = view;
  const size = modules.length;
  const [cos, sin] = [Math.cos(rotation), Math.sin(rotation)];
  const picture = new Float64Array(WIDTH * HEIGHT);
  const brightnessAt = (x: number, y: number) => {
    const [right, down] = [x - WIDTH / 2, y - HEIGHT / 2];
    const depth = 1 + (perspective * (right * cos + down * sin)) / (size * pixelsPerModule);
    const column = (right * cos + down * sin) / (pixelsPerModule * depth) + size / 2;
    const row = (down * cos - right * sin) / (pixelsPerModule * depth) + size / 2;
    const isDark = modules[Math.floor(row)]?.[Math.floor(column)];
    if (isDark === undefined) return surroundings;
    return (isDark ? dark : light) + glare * (Math.sin(x / 2.3 + y / 5) * 0.5 + (x / WIDTH) * 0.5);
  };
  for (let y = 0; y < HEIGHT; y += 1)
    for (let x = 0; x < WIDTH; x += 1)
      picture[y * WIDTH + x] = (brightnessAt(x + 0.25, y + 0.25) + brightnessAt(x + 0.75, y + 0.75)) / 2;
  return picture;
}

/** Returns the picture with each pixel as the average around it, in both directions. */
function blur(picture: Float64Array, pixels: number): Float64Array {
  const along = (source: Float64Array, step: number) =>
    source.map((luma, at) => {
      const edge = pixels - Math.floor(pixels);
      let [sum, weight] = [luma, 1];
      for (let distance = 1; distance <= Math.ceil(pixels); distance += 1)
        for (const side of [at - distance * step, at + distance * step]) {
          const share = distance > pixels ? edge : 1;
          sum += (source[side] ?? luma) * share;
          weight += share;
        }
      return sum / weight;
    });
  return pixels === 0 ? picture : along(along(picture, 1), WIDTH);
}

/** Writes the number of the frame into its corner, as light and dark squares, so that a test sees which frame is shown. */
function mark(frame: Buffer, number: number): void {
  for (let bit = 0; bit < MARK_BITS; bit += 1)
    for (let y = 0; y < MARK_PIXELS; y += 1) {
      const start = y * WIDTH + bit * MARK_PIXELS;
      frame.fill((number >> bit) & 1 ? 235 : 16, start, start + MARK_PIXELS);
    }
}
