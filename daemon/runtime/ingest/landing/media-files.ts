// Files that land as they are, beside the rows about them: a copy of each, and of the small image within it.

import { readText } from '../../../kernel/data/check-values.ts'
import type { DataBlock, TextColumn } from '../../../kernel/data/data-block.ts'
import type { MediaFile } from '../../../kernel/data/landed-dataset.ts'
import {
  media_column,
  media_digest_column,
  thumbnail_bytes_column,
  thumbnail_column,
  thumbnail_start_column,
} from '../../../kernel/data/media-columns.ts'
import type { DatasetFolder, FolderFile } from './dataset-folder.ts'
import { type ByteListener, copyInput, type ExaminedInput } from './landing-input.ts'

type ByteRange = { readonly start: number; readonly end: number }

/** The media of one input, by its position among the inputs. */
export class InputMedia {
  readonly #input: ExaminedInput
  readonly #names: { readonly media: string; readonly thumbnail: string }
  #thumbnail: ByteRange | undefined

  /** Undefined for a file of which the rows alone land. */
  static of(input: ExaminedInput, at: number): InputMedia | undefined {
    const { ending } = input.format
    return ending === undefined ? undefined : new InputMedia(input, at, ending)
  }

  private constructor(input: ExaminedInput, at: number, ending: string) {
    const number = String(at + 1).padStart(5, '0')
    this.#input = input
    this.#names = { media: `media-${number}.${ending}`, thumbnail: `thumbnail-${number}.jpg` }
  }

  /** The rows with the names and the digest of their media. */
  extend(block: DataBlock): DataBlock {
    const thumbnail = this.#findThumbnail(block)
    const columns = [
      repeatText(media_column, this.#names.media, block.rows),
      repeatText(media_digest_column, this.#input.description.sha256, block.rows),
      repeatText(thumbnail_column, thumbnail && this.#names.thumbnail, block.rows),
    ].map((column) => ({ ...column, stated: { type: 'text' as const } }))
    return {
      ...block,
      names: [...block.names, ...columns.map(({ name }) => name)],
      columns: [...block.columns, ...columns],
    }
  }

  #findThumbnail(block: DataBlock): ByteRange | undefined {
    const numberOf = (wanted: string) => {
      const column = block.columns.find(({ name }) => name === wanted)
      const text = column && block.rows > 0 ? readText(column, 0) : undefined
      return text === undefined ? undefined : Number(text)
    }
    const [start, bytes] = [numberOf(thumbnail_start_column), numberOf(thumbnail_bytes_column)]
    if (start !== undefined && bytes !== undefined) this.#thumbnail = { start, end: start + bytes }
    return this.#thumbnail
  }

  /** Copies the file, and the small image. Throws `LandingError`. */
  async copy(folder: DatasetFolder, onRead: ByteListener): Promise<MediaFile[]> {
    const files = [await this.#copy(folder.create(this.#names.media), { start: 0, end: this.#input.size }, onRead)]
    if (this.#thumbnail) files.push(await this.#copy(folder.create(this.#names.thumbnail), this.#thumbnail, onRead))
    return files
  }

  async #copy(file: FolderFile, range: ByteRange, onRead: ByteListener) {
    await copyInput(this.#input, range, (bytes) => file.write(bytes), onRead)
    return file.finish()
  }
}

function repeatText(name: string, text: string | undefined, rows: number): TextColumn {
  const bytes = new TextEncoder().encode(text ?? '')
  const isMissing = text === undefined
  return {
    ...{ name, bytes },
    starts: new Int32Array(rows).fill(isMissing ? -1 : 0),
    ends: new Int32Array(rows).fill(isMissing ? -1 : bytes.length),
  }
}
