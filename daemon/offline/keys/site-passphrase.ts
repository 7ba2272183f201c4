// The passphrase of the site's keys for commands: from a named file, or from the one of the profile.
import { min_passphrase_length } from '../../../adapters/keys/jose/wrapped-key.ts'
import { runAsInvoker } from '../../boot/host/act-as-owner.ts'
import { readPassphrase } from '../../boot/host/passphrase.ts'
import type { SiteFolder } from '../../boot/storage/site-folder.ts'
import { OfflineCommandError } from '../offline-command-error.ts'
import { type EnvironmentVariables, readSiteSettings } from '../site/site-profile.ts'

/** Reads the file. Throws `OfflineCommandError` (3) if it cannot be a passphrase file. */
export function readNamedPassphrase(file: string): string {
  return runAsInvoker(() => readPassphraseOrRefuse(file))
}

/** The passphrase of the profile; undefined if it names no file. Throws as `readNamedPassphrase` does. */
export function readSitePassphrase(folder: SiteFolder, env: EnvironmentVariables): string | undefined {
  const { keys_passphrase_file } = readSiteSettings(folder, env).identity
  return keys_passphrase_file === undefined ? undefined : readPassphraseOrRefuse(keys_passphrase_file)
}

function readPassphraseOrRefuse(file: string): string {
  try {
    return readPassphrase(file)
  } catch (error) {
    throw new OfflineCommandError(3, error instanceof Error ? error.message : String(error))
  }
}

/** Throws `OfflineCommandError` (2) for a passphrase that could be guessed. */
export function requirePassphraseLength(passphrase: string): void {
  if (passphrase.length >= min_passphrase_length) return
  throw new OfflineCommandError(
    2,
    `the passphrase is too short; it must have at least ${min_passphrase_length} characters`,
  )
}
