// The passphrase of private keys: read once from a file that only its owner can read, and never logged.
import * as fs from 'node:fs'
import { min_passphrase_length } from '../../../adapters/keys/jose/wrapped-key.ts'

/** Where systemd puts credentials, each readable for the group of the service at most. */
const systemdCredentialPath = /^\/run\/credentials\/[^/]+\/[^/]+$/
const max_bytes = 4_096

/** The first line of the file. Throws an Error with its remedy; never with what the file holds. */
export function readPassphrase(path: string): string {
  const text = readPrivateFile(path)
  const passphrase = text.replace(/\r?\n$/, '')
  if (/[\r\n]/.test(passphrase)) throw new Error(`${path} holds more than one line, and no passphrase does`)
  if (passphrase.length < min_passphrase_length) {
    throw new Error(`the passphrase in ${path} is shorter than ${min_passphrase_length} characters`)
  }
  return passphrase
}

/** Reads it at the first call and keeps it. Undefined where no file is named. */
export function passphraseReader(path: string | undefined): () => string | undefined {
  let held: string | undefined
  return () => {
    held ??= path === undefined ? undefined : readPassphrase(path)
    return held
  }
}

/** Whether others than its owner may get at a file that holds a secret. */
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
