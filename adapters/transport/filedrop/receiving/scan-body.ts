// Scans the verified bytes of a body from a private copy, because a carrier may still hold the original file open.
import { join } from 'node:path'
import type { BodyScanResult } from '../../../platform/body-scanner/body-scanner.ts'
import { writeDurablyAsync } from '../../../platform/durable-file/write-durably.ts'
import { fileBytes, type MessageExamination } from '../checks/message-examination.ts'
import { partFileName } from '../files/message-name.ts'
import type { ReceiveContext } from './scan-context.ts'

/** Puts the verified bytes into `work`, since another process may have the old file open. Throws when the disk fails. */
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
  // Synced before the renaming: a crash right after it must not leave an empty file in the place of the message.
  await writeDurablyAsync(path, fileBytes(examination.body), {
    draft,
    existing_draft: 'overwrite',
    syncs_folder: false,
  })
  return await scanner.scan(join(link.paths.work, file))
}
