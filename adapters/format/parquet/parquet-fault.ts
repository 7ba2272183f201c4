// Tells faults of a Parquet file from errors of the file system.
import { DataFault } from '../../../daemon/kernel/data/data-fault.ts'

/** Throws an error of the library as a fault of the file. An error of the file system is passed on. */
export async function mapLibraryErrors<T>(act: () => T | Promise<T>, where = ''): Promise<T> {
  try {
    return await act()
  } catch (error) {
    if (error instanceof DataFault) throw new DataFault(`${where}${error.message}`)
    // The library throws plain errors; what the source throws has a class or a system call.
    const isOfLibrary = error instanceof Error && (error as NodeJS.ErrnoException).syscall === undefined
    if (!isOfLibrary || !libraryErrors.has(error.constructor)) throw error
    throw new DataFault(`${where}damaged, or not a Parquet file: ${error.message}`)
  }
}

const libraryErrors: ReadonlySet<unknown> = new Set([Error, RangeError, TypeError, SyntaxError])
