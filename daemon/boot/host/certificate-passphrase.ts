// Derives the passphrase of the certificate's key from that of the site's keys, with a cost that makes guessing as slow.
import { pbkdf2Sync } from 'node:crypto'

/** As for the keys themselves (`adapters/keys/jose/wrapped-key.ts`); PKCS #8 files of Node have only about 2,000. */
const iterations = 600_000

/** Takes some tenths of a second; call it once in a process. */
export function deriveCertificatePassphrase(passphrase: string, site: string): string {
  return pbkdf2Sync(passphrase, `certificate key of ${site}`, iterations, 32, 'sha512').toString('base64')
}
