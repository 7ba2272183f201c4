// Reads the items of a list in a JSON document as records, in bounded memory.
import type { ByteSource } from '../../../daemon/kernel/data/byte-source.ts'
import type { DataBlock } from '../../../daemon/kernel/data/data-block.ts'
import { DataFault } from '../../../daemon/kernel/data/data-fault.ts'
import type { DataReadOptions } from '../../../daemon/kernel/data/read-options.ts'
import { openUtf8, type TextEncodingName } from '../../../daemon/kernel/data/utf8-source.ts'
import { toFeatureRecord } from './feature-record.ts'
import { JsonDocument } from './json-document.ts'
import { readJsonLines } from './read-json-lines.ts'

/** `pointer`: JSON pointer to the list; empty for the document itself. The line of a record is its number in the list. Throws `DataFault`. */
export async function* readJson(
  source: ByteSource,
  pointer: string,
  separator: string,
  options: DataReadOptions,
  encoding: TextEncodingName = 'utf-8',
): AsyncGenerator<DataBlock, void, undefined> {
  const lines = itemLines(await openUtf8(source, encoding), pointer)
  yield* readJsonLines(lines, separator, options)
}

/** The features of a collection of GeoJSON, as `toFeatureRecord` makes them. */
export async function* readGeoJson(
  source: ByteSource,
  separator: string,
  options: DataReadOptions,
): AsyncGenerator<DataBlock, void, undefined> {
  // RFC 7946 has no other encoding than UTF-8.
  const lines = itemLines(await openUtf8(source, 'utf-8'), '/features')
  yield* readJsonLines(lines, separator, options, 'utf-8', toFeatureRecord)
}

function itemLines(source: ByteSource, pointer: string): ByteSource {
  const document = new JsonDocument({ onList: (each) => each === pointer })
  return {
    async read(into) {
      for (;;) {
        const end = await source.read(into)
        if (end === 0) {
          if (!document.isAtEnd) throw new DataFault('not a JSON document: it ends too early')
          if (!document.hasTarget)
            throw new DataFault(`the document has no list ${pointer === '' ? 'at its top' : `at ${pointer}`}`)
          return 0
        }
        const length = document.take(into, end)
        if (length > 0) return length
      }
    },
  }
}

/** Lists that are named. */
const max_lists = 20
const piece_bytes = 65_536

/** `lines`: the text has a document on each line. */
export type DocumentLists = { readonly isLines: boolean; readonly pointers: readonly string[] }

/**
 * Pointers to the lists of objects of a document that are in no other list; the first ones. Reads no more than it must. Throws
 * `DataFault`.
 */
export async function findLists(source: ByteSource): Promise<DocumentLists> {
  const pointers: string[] = []
  let isLines = false
  const document = new JsonDocument({
    onList: () => false,
    onObjects: (pointer) => {
      const isWithin = pointers.some((each) => pointer.startsWith(`${each}/`))
      if (!isWithin && pointers.length < max_lists) pointers.push(pointer)
    },
    onMore: () => {
      isLines = true
    },
  })
  const piece = new Uint8Array(piece_bytes)
  while (!isLines && pointers[0] !== '') {
    const end = await source.read(piece)
    if (end === 0) break
    document.take(piece, end)
  }
  return { isLines, pointers }
}
