// Reads the passphrase of the private keys from a private file, once; no message contains it.
import { min_passphrase_length } from '../../../adapters/keys/jose/wrapped-key.ts'
import { readSecretFile } from '../../../adapters/platform/secret-file/read-secret-file.ts'

const max_bytes = 4_096

/** The first line of the file. Throws an Error with the remedy, and never with the content of the file. */
export function readPassphrase(path: string): string {
  const text = readSecretFile(path, { max_bytes })
  const passphrase = text.replace(/\r?\n$/, '')
  if (/[\r\n]/.test(passphrase)) throw new Error(`${path} has more than one line; a passphrase has exactly one`)
  if (passphrase.length < min_passphrase_length) {
    throw new Error(`the passphrase in ${path} is shorter than ${min_passphrase_length} characters`)
  }
  return passphrase
}

/** Returns a reader that reads the file at the first call and caches the result; undefined without a file. */
export function passphraseReader(path: string | undefined): () => string | undefined {
  let cached: string | undefined
  return () => {
    cached ??= path === undefined ? undefined : readPassphrase(path)
    return cached
  }
}
