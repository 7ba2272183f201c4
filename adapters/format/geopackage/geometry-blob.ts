// The geometry of a feature of a GeoPackage (OGC 12-128r19, "GeoPackage SQL Geometry Binary Format") as the text of GeoJSON.
import { DataFault } from '../../../daemon/kernel/data/data-fault.ts'
import { GeometryText } from '../geometry/geometry-text.ts'

/** Bytes of the envelope by its kind in the flags. */
const envelope_bytes = [0, 32, 48, 48, 64]
const header_bytes = 8
const [big_g, big_p] = [0x47, 0x50]
const extended_flag = 0x20

/** Of geometries within collections. */
const max_depth = 32
/** Byte order, type, and the count of an empty geometry. */
const min_geometry_bytes = 9

const types = ['Geometry', 'Point', 'LineString', 'Polygon', 'MultiPoint', 'MultiLineString', 'MultiPolygon'] as const
const collection = 7
/** The type of the parts of each type of several. */
const partTypes: Readonly<Record<number, number>> = { 4: 1, 5: 2, 6: 3 }

/** Throws `DataFault`; the message continues a sentence that says what the column has. Measures (M) are left out. */
export function geometryTextOf(blob: Uint8Array, srs: string | undefined): string {
  if (blob.length < header_bytes || blob[0] !== big_g || blob[1] !== big_p)
    throw new DataFault('no geometry of a GeoPackage')
  const flags = blob[3] ?? 0
  if ((flags & extended_flag) !== 0) throw new DataFault('a geometry of an extension, which is not read')
  const envelope = envelope_bytes[(flags >> 1) & 7]
  if (envelope === undefined) throw new DataFault('a damaged geometry: its envelope is of an unknown kind')
  const reader = new WkbReader(blob, header_bytes + envelope)
  reader.geometry(srs)
  return reader.end()
}

/** Reads well-known binary (ISO 13249-3). Every count is held against the bytes that are left before anything is read by it. */
class WkbReader {
  readonly #view: DataView
  readonly #text = new GeometryText()
  #at: number
  #isLittle = true
  #hasZ = false
  /** Bytes of a position. */
  #stride = 16

  constructor(bytes: Uint8Array, start: number) {
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    this.#at = start
  }

  end(): string {
    if (this.#at !== this.#view.byteLength) throw new DataFault('a damaged geometry: bytes behind its end')
    return this.#text.toString()
  }

  geometry(srs?: string, depth = 0): void {
    const type = this.#head()
    if (type !== collection) {
      this.#text.open(types[type] ?? '', srs)
      this.#coordinates(type)
    } else {
      if (depth === max_depth) throw new DataFault('a geometry that is nested too deeply')
      this.#text.open('GeometryCollection', srs)
      this.#text.addList(this.#count(min_geometry_bytes), () => this.geometry(undefined, depth + 1))
    }
    this.#text.close()
  }

  #head(): number {
    this.#require(5)
    this.#isLittle = this.#view.getUint8(this.#at) === 1
    const code = this.#view.getUint32(this.#at + 1, this.#isLittle)
    this.#at += 5
    const [type, dimensions] = [code % 1_000, Math.floor(code / 1_000)]
    if (type < 1 || type > collection || dimensions > 3)
      throw new DataFault(`a geometry of type ${code}, which GeoJSON does not have`)
    this.#hasZ = dimensions === 1 || dimensions === 3
    this.#stride = dimensions === 0 ? 16 : dimensions === 3 ? 32 : 24
    return type
  }

  #coordinates(type: number): void {
    if (type === 1) this.#point()
    else if (type === 2) this.#line()
    else if (type === 3) this.#text.addList(this.#count(4), () => this.#line())
    else this.#parts(partTypes[type] ?? 0)
  }

  #parts(wanted: number): void {
    this.#text.addList(this.#count(min_geometry_bytes), () => {
      if (this.#head() !== wanted) throw new DataFault('a damaged geometry: a part of another type')
      this.#coordinates(wanted)
    })
  }

  /** An empty point has no numbers. */
  #point(): void {
    this.#require(this.#stride)
    if (Number.isNaN(this.#number(0)) && Number.isNaN(this.#number(8))) {
      this.#text.add('[]')
      this.#at += this.#stride
    } else this.#position()
  }

  #line(): void {
    this.#text.addList(this.#count(this.#stride), () => this.#position())
  }

  #position(): void {
    this.#require(this.#stride)
    this.#text.addPosition(this.#number(0), this.#number(8), this.#hasZ ? this.#number(16) : undefined)
    this.#at += this.#stride
  }

  #number(offset: number): number {
    return this.#view.getFloat64(this.#at + offset, this.#isLittle)
  }

  #count(min_bytes: number): number {
    this.#require(4)
    const count = this.#view.getUint32(this.#at, this.#isLittle)
    this.#at += 4
    this.#require(count * min_bytes)
    return count
  }

  #require(bytes: number): void {
    if (this.#at + bytes > this.#view.byteLength) throw new DataFault('a damaged geometry: it ends too early')
  }
}
