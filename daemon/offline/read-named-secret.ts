// Reads a secret from a private file that a person names.
import { readSecretFile } from '../../adapters/platform/secret-file/read-secret-file.ts'
import { runAsInvoker } from '../boot/host/act-as-owner.ts'
import { OfflineCommandError } from './offline-command-error.ts'

/**
 * The text of the file without a line end behind it, read with the rights of the invoking user. Throws `OfflineCommandError` (3)
 * with the remedy for a file that others can read.
 */
export function readNamedSecret(file: string): string {
  try {
    return runAsInvoker(() => readSecretFile(file)).replace(/\r?\n$/, '')
  } catch (error) {
    throw new OfflineCommandError(3, error instanceof Error ? error.message : String(error))
  }
}
