// Scans the verified bytes of a body from a private copy, because a carrier may still hold the original file open.
import * as fsp from 'node:fs/promises'
import { join } from 'node:path'
import { fileBytes, type MessageExamination } from '../../checks/message-examination.ts'
import { partFileName } from '../../files/message-name.ts'
import type { ReceiveContext } from '../scan-context.ts'
import type { BodyScanResult } from './body-scanner.ts'

/** The bytes in `work` are those that were verified, whoever else has the old file open. Throws when the disk fails. */
export async function scanBody(
  stem: string,
  examination: MessageExamination,
  { link, filedrop }: ReceiveContext,
): Promise<BodyScanResult> {
  const { scanner } = filedrop
  if (!scanner) return { answer: 'clean' }
  const file = partFileName(stem, 'body')
  const path = join(link.folders.work, file)
  const draft = join(link.folders.tmp, `scan-${file}`)
  const handle = await fsp.open(draft, 'w', 0o600)
  try {
    await handle.writeFile(fileBytes(examination.body))
    // A crash right after the renaming must not leave an empty file in the place of the message.
    await handle.sync()
  } finally {
    await handle.close()
  }
  await fsp.rename(draft, path)
  return await scanner(path)
}
