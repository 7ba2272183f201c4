// Reads the authorities that the certificate of a source or target may be of.
import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs'
import { RowSourceError } from '../../../shared/row-source/row-source.ts'

const max_bytes = 1_048_576

/** Throws `RowSourceError` without the path. Read at each download, so that a change needs no restart. */
export function readAuthorities(file: string): string {
  let opened: number | undefined
  try {
    // Opening a pipe must not block.
    opened = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK)
    const stats = fstatSync(opened)
    if (!stats.isFile() || stats.size > max_bytes)
      throw new RowSourceError(
        `the file with the authorities of its certificate is not a file of at most ${max_bytes} bytes`,
      )
    const pem = readFileSync(opened, 'utf8')
    // Without one in it, those of the machine would count instead.
    if (pem.includes('-----BEGIN CERTIFICATE-----')) return pem
    throw new RowSourceError('the file with the authorities of its certificate has no certificate in PEM', false)
  } catch (error) {
    const { code, syscall } = error as NodeJS.ErrnoException
    if (syscall === undefined) throw error
    throw new RowSourceError(`the file with the authorities of its certificate cannot be read (${code})`, false)
  } finally {
    if (opened !== undefined) closeSync(opened)
  }
}
