// Reads secrets of sources; a refusal gives the reason without the name of the file.
import { readSecretFile, SecretFileError } from '../../../adapters/platform/secret-file/read-secret-file.ts'
import { isRefusal, type Refusal, refuse } from '../../kernel/error/errors.ts'

/** A shorter secret could be guessed from one delivery. */
const min_secret_bytes = 16

/** The trimmed text of the file. Read at each use, so that a change needs no restart. */
export async function readSecret(file: string): Promise<string | Refusal> {
  try {
    const secret = readSecretFile(file).trim()
    return secret === '' ? refuse('unavailable', 'a file that the source needs is empty') : secret
  } catch (error) {
    if (!(error instanceof SecretFileError)) throw error
    return refuse('unavailable', `a file that the source needs ${error.reason}`)
  }
}

/** Reads signing secrets; refuses one that is too short. */
export async function readSecrets(files: readonly string[]): Promise<readonly string[] | Refusal> {
  const secrets: string[] = []
  for (const file of files) {
    const secret = await readSecret(file)
    if (isRefusal(secret)) return secret
    if (countSecretBytes(secret) < min_secret_bytes)
      return refuse('unavailable', `a secret of the source has less than ${min_secret_bytes} bytes`)
    secrets.push(secret)
  }
  return secrets
}

function countSecretBytes(secret: string): number {
  return secret.startsWith('whsec_')
    ? Buffer.from(secret.slice('whsec_'.length), 'base64').length
    : Buffer.byteLength(secret)
}
