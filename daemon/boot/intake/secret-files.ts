// Secrets of sources, each in a file that its owner alone may read.
import { isRefused, type Refused, refuse } from '../../kernel/errors.ts'
import { readText } from './text-file.ts'

/** Below this a secret could be guessed by whoever has seen one delivery. */
const least_bytes = 16

/** The text of the file without the space around it; read anew each time, so that it may be changed without a restart. */
export async function readSecret(file: string): Promise<string | Refused> {
  const text = await readText(file, ({ mode, uid }) => {
    if (uid !== process.getuid?.() && uid !== 0) return 'belongs to somebody else'
    return (mode & 0o077) === 0 ? undefined : 'may be read by others than its owner (chmod 600)'
  })
  if (isRefused(text)) return text
  const secret = text.trim()
  return secret === '' ? refuse('unavailable', 'a file that the source needs is empty') : secret
}

/** Those that sign: none may be so short that it seals nothing. */
export async function readSecrets(files: readonly string[]): Promise<readonly string[] | Refused> {
  const secrets: string[] = []
  for (const file of files) {
    const secret = await readSecret(file)
    if (isRefused(secret)) return secret
    if (bytesOf(secret) < least_bytes)
      return refuse('unavailable', `a secret of the source has less than ${least_bytes} bytes`)
    secrets.push(secret)
  }
  return secrets
}

function bytesOf(secret: string): number {
  return secret.startsWith('whsec_')
    ? Buffer.from(secret.slice('whsec_'.length), 'base64').length
    : Buffer.byteLength(secret)
}
