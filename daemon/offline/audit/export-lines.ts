// Reads an audit export line by line, each of bounded length.
import * as fs from 'node:fs'
import { runAsInvoker } from '../../boot/host/act-as-owner.ts'
import { splitIntoLines } from '../../runtime/resolution/files/snapshot-lines.ts'
import { OfflineCommandError } from '../offline-command-error.ts'

/** An event is far smaller: a request of 4 MiB is the largest that one describes. */
const max_line_bytes = 8_388_608

export const export_hint = '`platform audit export` writes the file'

/** Lines that are not blank, with their number. Throws `OfflineCommandError`: 1 for a file that cannot be read, 5 for a line too long. */
export async function* readExportLines(
  file: string,
): AsyncGenerator<{ readonly line: Buffer; readonly number: number }> {
  let number = 0
  try {
    for await (const line of splitIntoLines(readTerminated(file), max_line_bytes)) {
      number += 1
      if (!isBlank(line)) yield { line, number }
    }
  } catch (error) {
    if (error instanceof RangeError)
      throw new OfflineCommandError(5, `line ${number + 1} is longer than ${max_line_bytes} bytes`, export_hint)
    throw error
  }
}

/** The file, with an end to its last line. */
async function* readTerminated(file: string): AsyncGenerator<Buffer> {
  yield* fs.createReadStream('', { fd: runAsInvoker(() => openExport(file)) })
  yield Buffer.from('\n')
}

function openExport(file: string): number {
  try {
    return fs.openSync(file, 'r')
  } catch {
    throw new OfflineCommandError(1, `${file} cannot be read`, export_hint)
  }
}

/** White space of JSON alone: a line of anything else holds what the reader of a record does not see. */
function isBlank(line: Buffer): boolean {
  return line.every((byte) => byte === 0x20 || byte === 0x09 || byte === 0x0d)
}
