// Versions of the data files of a command, which opens a file several times: to digest it, to find its format, for its records.
import { changedFileError, type DataFile } from '../../../../adapters/platform/data-file/data-file.ts'

export class FileVersions {
  readonly #versions = new Map<string, string>()

  /** Closes the file and throws `DataFileError` where it is not as it was at its first opening. */
  require(file: string, openFile: Pick<DataFile, 'version' | 'close'>): void {
    const first = this.#versions.get(file)
    if (first === undefined) this.#versions.set(file, openFile.version)
    else if (first !== openFile.version) {
      openFile.close()
      throw changedFileError()
    }
  }
}
