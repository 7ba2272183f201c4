// Downloads an object to the disk: exactly the bytes that were listed, on from where a broken connection left off.
import { closeSync, openSync } from 'node:fs'
import { writeFully } from '../../../../adapters/platform/durable-file/write-durably.ts'
import { runningDigest } from '../../../kernel/encoding/running-digest.ts'
import {
  ObjectChangedError,
  type ObjectSource,
  type StoredObject,
} from '../../../shared/object-source/object-source.ts'
import { RowSourceError } from '../../../shared/row-source/row-source.ts'
import { retryPassing } from './retry-passing.ts'

/** `to`: a new file. Returns the SHA-256 of the content. Throws `RowSourceError`, and the reason of the signal. */
export async function downloadObject(
  source: Pick<ObjectSource, 'readObject' | 'confirmObject'>,
  object: StoredObject,
  to: string,
  signal: AbortSignal,
): Promise<string> {
  const digested = runningDigest()
  const file = openSync(to, 'wx', 0o600)
  let at = 0
  const readOn = async () => {
    // A connection that breaks after the last byte has brought all.
    if (at > 0 && at === object.bytes) return
    for await (const chunk of source.readObject(object, at, signal)) {
      if (at + chunk.length > object.bytes) throw new ObjectChangedError(object.key)
      writeFully(file, chunk)
      digested.add(chunk)
      at += chunk.length
    }
    if (at < object.bytes) throw new RowSourceError('the answer of the server broke off', false)
  }
  try {
    await retryPassing(readOn, signal, () => at)
    await retryPassing(async () => await source.confirmObject?.(object, signal), signal)
  } finally {
    closeSync(file)
  }
  return digested.hex()
}
