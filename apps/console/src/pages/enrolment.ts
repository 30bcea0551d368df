import { encodeQR } from 'qr';
import { html } from 'ghtml';
import type { PageRequest } from '../add-page.ts';

/** A device that has a code. */
interface Coded {
  code: string;
  name: string;
  codeExpiresAt: Date;
}

/** Returns the address that opens the scanner with a code. Browsers do not send the fragment to a server. */
const scannerAt = (doorUrl: string, code: string) => `${doorUrl.replace(/\/*$/, '/')}#code=${code}`;

/**
 * Returns how a device is enrolled: a picture for its camera, and the code to type. `doorUrl`: the address of
 * the scanner; without it, the picture has the code alone.
 */
export function codeHtml({ words: { door }, format, doorUrl }: PageRequest, device: Coded) {
  const { code, name, codeExpiresAt } = device;
  const address = doorUrl === undefined ? undefined : scannerAt(doorUrl, code);
  const picture = `data:image/svg+xml,${encodeURIComponent(encodeQR(address ?? code, 'svg', { border: 4 }))}`;
  const image = html`<img
    class="qr"
    src="${picture}"
    alt="${address ? door.codePicture : door.plainPicture}"
  />`;
  return html`<section class="card">
    <h2>${name}</h2>
    <p>${address ? door.enrolSteps : door.enrolPlain}</p>
    <p>!${address ? html`<a href="${address}" referrerpolicy="no-referrer">!${image}</a>` : image}</p>
    !${address ? html`<p>${door.enrolTyped} <strong>${address.split('#', 1)[0]}</strong></p>` : ''}
    <p class="soft">${door.code}</p>
    <p class="code">${code}</p>
    <p>${door.codeExpires(format.timeText(codeExpiresAt))}</p>
    <p class="hint">${door.afterEnrol}</p>
  </section>`;
}
