// Passphrase of the key of the site's certificate: derived from that of the site's keys, so that it is as hard to
// guess.
import { pbkdf2Sync } from 'node:crypto'

/**
 * As for the keys themselves (`adapters/keys/jose/wrapped-key.ts`): PKCS #8 files of this platform alone have some
 * 2,000.
 */
const iterations = 600_000

/** Takes some tenths of a second: ask once in a process. */
export function deriveCertificatePassphrase(passphrase: string, site: string): string {
  return pbkdf2Sync(passphrase, `certificate key of ${site}`, iterations, 32, 'sha512').toString('base64')
}
