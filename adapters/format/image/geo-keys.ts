// Where a raster lies: the reference system and the corners of a GeoTIFF (OGC 19-008).
import type { ImageFacts } from './image-facts.ts'
import type { TiffDirectory } from './tiff-directory.ts'

const tags = {
  ...{ scale: 33_550, tiepoint: 33_922, transformation: 34_264, keys: 34_735, doubles: 34_736, texts: 34_737 },
  noData: 42_113,
} as const
const keys = {
  model: 1024,
  raster: 1025,
  citation: 1026,
  geographic: 2048,
  geographicCitation: 2049,
  projected: 3072,
  projectedCitation: 3073,
} as const
const userDefined = 32_767
const pixelIsPoint = 2

/** Coordinates of a pixel: x = a + b·column + c·row, y = d + e·column + f·row. */
export type PixelTransform = readonly [a: number, b: number, c: number, d: number, e: number, f: number]

export type GeoReference = {
  readonly crs: string | undefined
  /** Of the upper left corner of a pixel; undefined where the raster does not lie anywhere. */
  readonly transform: PixelTransform | undefined
  readonly noData: string | undefined
}

/** Throws `DataFault`. */
export function readGeoReference(directory: TiffDirectory): GeoReference {
  const found = readKeys(directory)
  const transform = readTransform(directory)
  return {
    crs: nameCrs(found),
    transform: transform && found.get(keys.raster) === pixelIsPoint ? shift(transform, -0.5) : transform,
    noData: directory.text(tags.noData),
  }
}

export type Bounds = { readonly min_x: number; readonly min_y: number; readonly max_x: number; readonly max_y: number }

/** The least rectangle with all corners of a part of the raster. */
export function boundsOf(
  transform: PixelTransform | undefined,
  column: number,
  row: number,
  width: number,
  height: number,
): Bounds | undefined {
  if (!transform) return undefined
  const [a, b, c, d, e, f] = transform
  const corners = [column, column + width].flatMap((x) =>
    [row, row + height].map((y) => [a + b * x + c * y, d + e * x + f * y] as const),
  )
  const [xs, ys] = [corners.map(([x]) => x), corners.map(([, y]) => y)]
  return { min_x: Math.min(...xs), min_y: Math.min(...ys), max_x: Math.max(...xs), max_y: Math.max(...ys) }
}

/** The reference of a smaller version of the raster. */
export function scaleTransform([a, b, c, d, e, f]: PixelTransform, x: number, y: number): PixelTransform {
  return [a, b * x, c * y, d, e * x, f * y]
}

export function factsOfReference({ crs, transform, noData }: GeoReference, width: number, height: number): ImageFacts {
  return {
    ...{ crs, no_data: noData },
    ...boundsOf(transform, 0, 0, width, height),
    ...(transform && {
      pixel_width: Math.hypot(transform[1], transform[4]),
      pixel_height: Math.hypot(transform[2], transform[5]),
    }),
  }
}

function shift([a, b, c, d, e, f]: PixelTransform, by: number): PixelTransform {
  return [a + (b + c) * by, b, c, d + (e + f) * by, e, f]
}

function readTransform(directory: TiffDirectory): PixelTransform | undefined {
  const matrix = directory.numbers(tags.transformation)
  if (matrix?.length === 16) {
    const [b = 0, c = 0, , a = 0, e = 0, f = 0, , d = 0] = matrix
    return requireFinite([a, b, c, d, e, f])
  }
  const [scaleX, scaleY] = directory.numbers(tags.scale) ?? []
  const [column, row, , x, y] = directory.numbers(tags.tiepoint) ?? []
  if (scaleX === undefined || scaleY === undefined || x === undefined || y === undefined) return undefined
  return requireFinite([x - (column ?? 0) * scaleX, scaleX, 0, y + (row ?? 0) * scaleY, 0, -scaleY])
}

function requireFinite(transform: PixelTransform): PixelTransform | undefined {
  return transform.every((each) => Number.isFinite(each)) ? transform : undefined
}

type GeoKeys = ReadonlyMap<number, number | string>

/** Numbers and texts by the number of the key. */
function readKeys(directory: TiffDirectory): GeoKeys {
  const found = new Map<number, number | string>()
  const values = directory.numbers(tags.keys) ?? []
  const texts = directory.bytes(tags.texts)
  for (let at = 4; at + 4 <= values.length; at += 4) {
    const [key = 0, location, count = 0, value = 0] = values.slice(at, at + 4)
    if (location === 0) found.set(key, value)
    if (location === tags.texts && texts)
      found.set(
        key,
        Buffer.from(texts.subarray(value, value + count))
          .toString('latin1')
          .replace(/\|?\0*$/, ''),
      )
  }
  return found
}

function nameCrs(found: GeoKeys): string | undefined {
  for (const [code, citation] of [
    [keys.projected, keys.projectedCitation],
    [keys.geographic, keys.geographicCitation],
  ] as const) {
    const value = found.get(code)
    if (typeof value !== 'number' || value === 0) continue
    if (value !== userDefined) return `EPSG:${value}`
    const name = found.get(citation) ?? found.get(keys.citation)
    return typeof name === 'string' && name !== '' ? name : 'user-defined'
  }
  return undefined
}
