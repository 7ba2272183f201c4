// Reads the Authorization header for a place of the profile.
import { readSecretFile, SecretFileError } from '../../../../adapters/platform/secret-file/read-secret-file.ts'
import { RowSourceError } from '../../../shared/row-source/row-source.ts'

/** `place`: as messages name it. Throws `RowSourceError` without the path; read at each use, so that a change needs no restart. */
export function readAuthorization(file: string | undefined, place: 'source' | 'target'): string | undefined {
  if (file === undefined) return undefined
  const of = `the file with the Authorization header of the ${place}`
  try {
    const text = readSecretFile(file).trim()
    if (/^[\x21-\x7e]+(?: [\x21-\x7e]+)*$/.test(text)) return text
    throw new RowSourceError(`${of} is empty or not one line`, false)
  } catch (error) {
    if (!(error instanceof SecretFileError)) throw error
    throw new RowSourceError(`${of} ${error.reason}`, false)
  }
}
