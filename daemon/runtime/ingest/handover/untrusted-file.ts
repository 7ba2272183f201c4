// Reads files of a folder that others write: bounded, without following a link, and without waiting for a pipe.
import { constants } from 'node:fs'
import { open } from 'node:fs/promises'

const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK, O_NOCTTY } = constants

/** Why a file is not read; `absent`: it is not there. */
export class UntrustedFileError extends Error {
  readonly isAbsent: boolean

  constructor(reason: string, isAbsent = false) {
    super(reason)
    this.isAbsent = isAbsent
  }
}

/** Throws `UntrustedFileError`. */
export async function readUntrustedFile(file: string, max_bytes: number): Promise<Buffer> {
  const opened = await open(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY).catch((error: unknown) => {
    const { code } = error as NodeJS.ErrnoException
    const reason = code === 'ELOOP' ? 'it is a link' : (code ?? 'it cannot be opened')
    throw new UntrustedFileError(reason, code === 'ENOENT')
  })
  try {
    const { size, isFile } = await opened.stat().then((stat) => ({ size: stat.size, isFile: stat.isFile() }))
    if (!isFile) throw new UntrustedFileError('it is not a file')
    if (size > max_bytes) throw new UntrustedFileError('it is too large')
    // It may grow meanwhile.
    const buffer = Buffer.alloc(Math.min(size, max_bytes) + 1)
    const { bytesRead } = await opened.read(buffer, 0, buffer.length, 0)
    if (bytesRead > max_bytes) throw new UntrustedFileError('it is too large')
    return buffer.subarray(0, bytesRead)
  } finally {
    await opened.close()
  }
}
