// Geometries as the text of GeoJSON (RFC 7946), with their reference system where it is not WGS 84.
import { DataFault } from '../../../daemon/kernel/data/data-fault.ts'
import { max_record_bytes } from '../../../daemon/kernel/data/read-options.ts'

/** Name of the column of geometries, as for the features of GeoJSON. */
export const geometry_column = 'geometry'

const piece_characters = 65_536

/** Collects a text piece by piece. Throws `DataFault` where it is longer than a record may be. */
export class GeometryText {
  readonly #pieces: Buffer[] = []
  #text = ''
  #length = 0

  add(text: string): void {
    this.#text += text
    this.#length += text.length
    if (this.#length > max_record_bytes)
      throw new DataFault(`a geometry of more than ${max_record_bytes} bytes of GeoJSON`)
    if (this.#text.length >= piece_characters) this.#endPiece()
  }

  /** A string that is added to keeps each added one as an object of its own, which take many times the bytes of a text. */
  #endPiece(): void {
    this.#pieces.push(Buffer.from(this.#text))
    this.#text = ''
  }

  /** Adds `[x,y]` or `[x,y,z]`. Throws `DataFault` for a number that JSON does not have. */
  addPosition(x: number, y: number, z?: number): void {
    if (!Number.isFinite(x) || !Number.isFinite(y) || (z !== undefined && !Number.isFinite(z)))
      throw new DataFault('a geometry with a coordinate that is not a number')
    this.add(z === undefined ? `[${x},${y}]` : `[${x},${y},${z}]`)
  }

  /** Adds `[...]`, with `item` called for each item. */
  addList(count: number, item: (at: number) => void): void {
    this.add('[')
    for (let at = 0; at < count; at++) {
      if (at > 0) this.add(',')
      item(at)
    }
    this.add(']')
  }

  /** Adds the beginning of a geometry. `srs`: as in `findSrs`; a part of another geometry has the one of the whole. */
  open(type: string, srs?: string): void {
    const crs = srs === undefined ? '' : `"crs":{"type":"name","properties":{"name":${JSON.stringify(srs)}}},`
    this.add(`{"type":"${type}",${crs}${type === 'GeometryCollection' ? '"geometries":' : '"coordinates":'}`)
  }

  close(): void {
    this.add('}')
  }

  toString(): string {
    if (this.#pieces.length === 0) return this.#text
    this.#endPiece()
    return Buffer.concat(this.#pieces).toString()
  }
}
