// The Parquet files of a dataset: a new one begins where the last one is large.
import { loadDataWriter } from '../../../../adapters/platform/data-file/data-kinds.ts'
import type { DataBlock } from '../../../kernel/data/data-block.ts'
import type { DataSchema } from '../../../kernel/data/data-schema.ts'
import type { DataWriter, DataWriterFactory } from '../../../kernel/data/data-writer.ts'
import type { DatasetFile } from '../../../kernel/data/landed-dataset.ts'
import type { DatasetFolder, FolderFile } from './dataset-folder.ts'

/** A file ends with the first block that reaches one of both. */
const max_file_rows = 8_388_608
const max_file_bytes = 1_073_741_824

export class DatasetFiles {
  readonly #create: DataWriterFactory
  readonly #folder: DatasetFolder
  readonly #schema: DataSchema
  readonly #files: DatasetFile[] = []
  #writer: DataWriter
  #file: FolderFile
  #rows = 0
  rows = 0

  private constructor(create: DataWriterFactory, folder: DatasetFolder, schema: DataSchema) {
    this.#create = create
    this.#folder = folder
    this.#schema = schema
    ;[this.#file, this.#writer] = this.#begin()
  }

  static async open(folder: DatasetFolder, schema: DataSchema): Promise<DatasetFiles> {
    return new DatasetFiles(await loadDataWriter('parquet'), folder, schema)
  }

  #begin(): [FolderFile, DataWriter] {
    const file = this.#folder.create(`data-${String(this.#files.length + 1).padStart(5, '0')}.parquet`)
    return [file, this.#create(this.#schema, (bytes) => file.write(bytes))]
  }

  /** Throws `DataFault` for a value that is not of the type of its column. */
  write(block: DataBlock): void {
    if (this.#rows >= max_file_rows || this.#file.bytes >= max_file_bytes) {
      this.#end()
      ;[this.#file, this.#writer] = this.#begin()
    }
    this.#writer.write(block)
    this.#rows += block.rows
    this.rows += block.rows
  }

  #end(): void {
    this.#writer.end()
    this.#files.push({ ...this.#file.finish(), rows: this.#rows })
    this.#rows = 0
  }

  finish(): readonly DatasetFile[] {
    this.#end()
    return this.#files
  }
}
