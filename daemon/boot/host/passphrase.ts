// Reads the passphrase of the private keys from a private file, once; no message contains it.
import * as fs from 'node:fs'
import { min_passphrase_length } from '../../../adapters/keys/jose/wrapped-key.ts'

/** Folder of systemd credentials, which at most the group of the service can read. */
const systemdCredentialPath = /^\/run\/credentials\/[^/]+\/[^/]+$/
const max_bytes = 4_096

/** The first line of the file. Throws an Error with the remedy, and never with the content of the file. */
export function readPassphrase(path: string): string {
  const text = readPrivateFile(path)
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

/** Whether users other than its owner can access a file with a secret. */
export function isOpenToOthers(path: string, mode: number): boolean {
  return (mode & (systemdCredentialPath.test(path) ? 0o037 : 0o077)) !== 0
}

function readPrivateFile(path: string): string {
  let file: number
  try {
    file = fs.openSync(path, fs.constants.O_RDONLY | fs.constants.O_NOFOLLOW | fs.constants.O_NONBLOCK)
  } catch {
    throw new Error(`the passphrase file ${path} cannot be read`)
  }
  try {
    const stat = fs.fstatSync(file)
    if (!stat.isFile() || stat.size > max_bytes) throw new Error(`${path} is not a passphrase file`)
    if (isOpenToOthers(path, stat.mode)) throw new Error(`${path} can be read by others; run: chmod 600 ${path}`)
    return fs.readFileSync(file, 'utf8')
  } finally {
    fs.closeSync(file)
  }
}
